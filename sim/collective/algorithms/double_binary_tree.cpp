// Double binary tree: two trees carry half of the message each. A rank with two children in one tree is a
// leaf of the other, so its links are used evenly.
//
// Latency is 2 log2(n) steps, against 2 (n - 1) of a ring. Bandwidth stays near the optimum because inner
// nodes of one tree are leaves of the other: each rank sends at most S bytes up and S bytes down. Sanders,
// Speck and Träff, Parallel Computing 35 (2009); NCCL has it since 2.4.
#include <algorithm>
#include <utility>
#include <vector>

#include "sim/collective/algorithms/double_tree.hpp"
#include "sim/collective/algorithms/rows.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

namespace {

/// Returns the trees for an all-reduce: groups are chains, and their first places form the two trees.
DoubleTree trees_of_groups(const AlgorithmRequest& request) {
  const std::vector<int> sizes = group_sizes(request);
  const DoubleTree groups = double_tree(static_cast<int>(sizes.size()));
  return {with_chains(groups.first, sizes), with_chains(groups.second, sizes)};
}

/// Returns a tree with a given root: it spans the other places, and the root (place 0) stands above it.
Tree below_root(const Tree& others) {
  Tree tree{-1};
  for (const int parent : others) tree.push_back(parent + 1);
  return tree;
}

/// Returns two trees over the places other than the root, with the root above both.
DoubleTree trees_below_root(int n) {
  const DoubleTree others = double_tree(n - 1);
  return {below_root(others.first), below_root(others.second)};
}

/// Reduces up and broadcasts down both trees: pieces [0, p) on the first tree, [p, 2p) on the second.
void fill_double_binary_tree_all_reduce(Lanes& lanes, const AlgorithmRequest& request) {
  const DoubleTree trees = trees_of_groups(request);
  lanes.chunks = 2 * request.pieces;
  add_all_reduce(lanes, trees.first, {0, request.pieces});
  add_all_reduce(lanes, trees.second, {request.pieces, request.pieces});
}

/// Returns the closed form. A piece goes up and down the deeper tree; the busiest rank exchanges half of the
/// message with each of its neighbours.
LaneCosts double_binary_tree_all_reduce_costs(const AlgorithmRequest& request) {
  const DoubleTree trees = trees_of_groups(request);
  const DoubleTreeLoad most = most_of(trees);
  const int hops = 2 * depth_of(trees), steps = hops + request.pieces - 1;
  const double piece = 0.5 / request.pieces;
  return {.hops = hops,
          .steps = steps,
          .sent = 0.5 * most.neighbours,
          .received = 0.5 * most.neighbours,
          .pair = 0.5 * most.both_ways,
          .message = piece,
          .chain = steps * piece,
          .messages = most.neighbours * request.pieces,
          .added = 0.5 * most.children};
}

void fill_double_binary_tree_broadcast(Lanes& lanes, const AlgorithmRequest& request) {
  const DoubleTree trees = trees_below_root(lanes.ranks);
  lanes.chunks = 2 * request.pieces;
  add_broadcast(lanes, trees.first, {0, request.pieces}, {});
  add_broadcast(lanes, trees.second, {request.pieces, request.pieces}, {});
}

void fill_double_binary_tree_reduce(Lanes& lanes, const AlgorithmRequest& request) {
  const DoubleTree trees = trees_below_root(lanes.ranks);
  lanes.chunks = 2 * request.pieces;
  add_reduce(lanes, trees.first, {0, request.pieces});
  add_reduce(lanes, trees.second, {request.pieces, request.pieces});
}

LaneCosts double_binary_tree_broadcast_costs(const AlgorithmRequest& request) {
  const DoubleTree trees = trees_below_root(request.ranks());
  const DoubleTreeLoad most = most_of(trees);
  const int hops = depth_of(trees), steps = hops + request.pieces - 1;
  const double piece = 0.5 / request.pieces;
  return {.hops = hops,
          .steps = steps,
          .sent = 0.5 * most.children,
          .received = 1,
          .pair = 0.5 * most.one_way,
          .message = piece,
          .chain = steps * piece,
          .messages = std::max(2, most.children) * request.pieces};
}

LaneCosts double_binary_tree_reduce_costs(const AlgorithmRequest& request) {
  LaneCosts costs = double_binary_tree_broadcast_costs(request);
  std::swap(costs.sent, costs.received);
  costs.added = costs.received;
  return costs;
}

}  // namespace

Algorithm double_binary_tree_all_reduce() {
  return {"double_binary_tree_all_reduce",
          AlgorithmFamily::double_binary_tree,
          CollectiveOp::all_reduce,
          "half of the message up and down each of two trees over the groups, chains inside them",
          fill_double_binary_tree_all_reduce,
          double_binary_tree_all_reduce_costs,
          refuse_nothing};
}

Algorithm double_binary_tree_broadcast() {
  return {"double_binary_tree_broadcast",
          AlgorithmFamily::double_binary_tree,
          CollectiveOp::broadcast,
          "half of the message from the root down each of two trees",
          fill_double_binary_tree_broadcast,
          double_binary_tree_broadcast_costs,
          refuse_nothing};
}

Algorithm double_binary_tree_reduce() {
  return {"double_binary_tree_reduce",
          AlgorithmFamily::double_binary_tree,
          CollectiveOp::reduce,
          "half of the message up each of two trees to the root, adding",
          fill_double_binary_tree_reduce,
          double_binary_tree_reduce_costs,
          refuse_nothing};
}

}  // namespace foretrain
