// Binomial trees: ceil(log2 n) rounds. In each round the ranks that have the data double, or those that still
// must send halve.
//
// In round k of a broadcast 2^k ranks have the data. Every round sends whole messages, so the time is
// ceil(log2 n) (latency + S / rate): best for short messages, log2(n) times too slow for long ones. Gather
// and scatter send halves, quarters, … and are optimal in bytes at the root.
#include "sim/collective/algorithms/binomial.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/collective/algorithms/power_of_two.hpp"
#include "sim/collective/algorithms/rounds.hpp"
#include "sim/collective/algorithms/rows.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

namespace {

void fill_binomial_broadcast(Lanes& lanes, const AlgorithmRequest& request) {
  lanes.chunks = request.pieces;
  add_broadcast(lanes, binomial_tree(lanes.ranks), {0, request.pieces}, {});
}

/// Returns the closed form. The root sends to ceil(log2 n) children, piece by piece.
LaneCosts binomial_broadcast_costs(const AlgorithmRequest& request) {
  const int n = request.ranks();
  const int children = rounds_of(n), steps = binomial_depth(n) + request.pieces - 1;
  const double piece = 1.0 / request.pieces;
  return {.hops = binomial_depth(n),
          .steps = steps,
          .sent = static_cast<double>(children),
          .received = 1,
          .pair = 1,
          .message = piece,
          .chain = steps * piece,
          .messages = children * request.pieces};
}

void fill_binomial_reduce(Lanes& lanes, const AlgorithmRequest& request) {
  lanes.chunks = request.pieces;
  add_reduce(lanes, binomial_tree(lanes.ranks), {0, request.pieces});
}

/// A reduction is the broadcast with directions turned, and an addition for each message received.
LaneCosts binomial_reduce_costs(const AlgorithmRequest& request) {
  LaneCosts costs = binomial_broadcast_costs(request);
  std::swap(costs.sent, costs.received);
  costs.added = costs.received;
  return costs;
}

/// Calls use(parent, child, parts) for the edges between places `distance` apart, where subtrees are runs of
/// places. `parts` are those of the child's subtree.
template <class Use>
void for_subtrees(int n, int distance, const Use& use) {
  for (int parent = 0; parent + distance < n; parent += 2 * distance) {
    const int child = parent + distance;
    use(parent, child, ChunkRange{child, std::min(distance, n - child)});
  }
}

/// Gathers: the round over distance d moves runs of d parts, so that each subtree is complete before its root
/// sends it on.
void fill_binomial_gather(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  Rounds rounds(lanes);
  for (int distance = 1; distance < lanes.ranks; distance *= 2) {
    for_subtrees(lanes.ranks, distance, [&](int parent, int child, ChunkRange parts) {
      rounds.send(child, parent, parts, Transfer::copy);
    });
    rounds.next();
  }
}

void fill_binomial_scatter(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  add_binomial_scatter(lanes);
}

/// Returns the closed form: the messages grow with the subtrees, so a chain carries the parts of its
/// subtrees.
LaneCosts binomial_gather_costs(const AlgorithmRequest& request) {
  const int n = request.ranks();
  return {.hops = binomial_depth(n),
          .steps = binomial_depth(n),
          .sent = largest_subtree(n),
          .received = (n - 1.0) / n,
          .pair = largest_subtree(n),
          .message = largest_subtree(n),
          .chain = heaviest_branch(n),
          .messages = rounds_of(n)};
}

LaneCosts binomial_scatter_costs(const AlgorithmRequest& request) {
  LaneCosts costs = binomial_gather_costs(request);
  std::swap(costs.sent, costs.received);
  return costs;
}

}  // namespace

int binomial_depth(int n) {
  // The depth of place p is the number of ones in p. The largest number of ones below n is that of n - 1, or
  // of the largest number 2^k - 1 below it.
  const unsigned last = static_cast<unsigned>(n - 1);
  return std::max(std::popcount(last), static_cast<int>(std::bit_width(last)) - 1);
}

double largest_subtree(int n) {
  // The subtrees below the root begin at powers of two. The last one may be cut off, and then the one before
  // it can be larger.
  const int last = 1 << (rounds_of(n) - 1);
  return static_cast<double>(std::max(last / 2, n - last)) / n;
}

double heaviest_branch(int n) {
  // The path to `leaf` passes the places that remain when its lowest ones are cleared one by one.
  int heaviest = 0;
  for (int leaf = 1; leaf < n; ++leaf) {
    int parts = 0;
    for (int place = leaf; place > 0; place &= place - 1) parts += std::min(place & -place, n - place);
    heaviest = std::max(heaviest, parts);
  }
  return static_cast<double>(heaviest) / n;
}

std::vector<std::uint32_t> add_binomial_scatter(Lanes& lanes) {
  const int n = lanes.ranks, part = lanes.chunks / n;
  std::vector<std::uint32_t> into(static_cast<std::size_t>(n));
  Rounds rounds(lanes);
  for (int distance = 1 << (rounds_of(n) - 1); distance >= 1; distance /= 2) {
    for_subtrees(n, distance, [&](int parent, int child, ChunkRange parts) {
      into[static_cast<std::size_t>(child)] = static_cast<std::uint32_t>(lanes.lanes.size());
      rounds.send(parent, child, {parts.first * part, parts.width * part}, Transfer::copy);
    });
    rounds.next();
  }
  return into;
}

Algorithm binomial_broadcast() {
  return {"binomial_broadcast",    AlgorithmFamily::binomial,
          CollectiveOp::broadcast, "the ranks that have the message double each round",
          fill_binomial_broadcast, binomial_broadcast_costs,
          refuse_nothing};
}

Algorithm binomial_reduce() {
  return {"binomial_reduce",    AlgorithmFamily::binomial,
          CollectiveOp::reduce, "the ranks that still have something to add halve each round",
          fill_binomial_reduce, binomial_reduce_costs,
          refuse_nothing};
}

Algorithm binomial_gather() {
  return {"binomial_gather",    AlgorithmFamily::binomial,
          CollectiveOp::gather, "subtrees of 1, 2, 4, ... parts towards the root",
          fill_binomial_gather, binomial_gather_costs,
          refuse_nothing};
}

Algorithm binomial_scatter() {
  return {"binomial_scatter",    AlgorithmFamily::binomial,
          CollectiveOp::scatter, "subtrees of ..., 4, 2, 1 parts away from the root",
          fill_binomial_scatter, binomial_scatter_costs,
          refuse_nothing};
}

}  // namespace foretrain
