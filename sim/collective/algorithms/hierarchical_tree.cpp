// Algorithm in two levels like the hierarchical ring, but with a double binary tree between the groups for
// each shard. NCCL's NVLSTree joins its heads in this way.
//
// Inside the groups it is optimal in bandwidth, between the groups in latency: 2 log2(N) steps over the slow
// links.
#include <algorithm>

#include "sim/collective/algorithms/double_tree.hpp"
#include "sim/collective/algorithms/groups.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_hierarchical_tree(Lanes& lanes, const AlgorithmRequest& request) {
  const Groups groups = groups_of(request);
  const int pieces = request.pieces;
  lanes.chunks = groups.size * 2 * pieces;
  const NeedsByPlace starts = add_reduce_scatter_inside(lanes, groups);
  NeedsByPlace ready = groups.count > 1 ? NeedsByPlace(starts.size()) : starts;
  const DoubleTree trees = double_tree(groups.count);
  for (int member = 0; member < groups.size; ++member) {
    // A tree carries half of the shard's pieces.
    int first = member * 2 * pieces;
    for (const Tree* tree : {&trees.first, &trees.second}) {
      add_all_reduce(lanes, tree_of_member(*tree, groups, member), {first, pieces}, starts, &ready);
      first += pieces;
    }
  }
  // The all-gather moves whole shards, so it waits for the last piece of each tree.
  if (groups.count > 1) {
    for (std::vector<LaneNeed>& needs : ready) {
      for (LaneNeed& need : needs) need = last_of(lanes, need.lane);
    }
  }
  add_all_gather_inside(lanes, groups, ready);
}

LaneCosts hierarchical_tree_costs(const AlgorithmRequest& request) {
  const Groups groups = groups_of(request);
  const LaneCosts inside = costs_inside(groups);
  const DoubleTree trees = double_tree(groups.count);
  const DoubleTreeLoad load = most_of(trees);
  const int between = 2 * depth_of(trees);
  const double half_shard = 0.5 / groups.size, bytes = inside.sent + half_shard * load.neighbours;
  const int steps = groups.count > 1 ? between + request.pieces - 1 : 0;
  const double piece = half_shard / request.pieces;
  return {.hops = inside.hops + between,
          .steps = inside.steps + steps,
          .sent = bytes,
          .received = bytes,
          .pair = std::max(inside.pair, half_shard * load.both_ways),
          .message = groups.size > 1 ? inside.message : piece,
          .chain = inside.chain + steps * piece,
          .messages = inside.messages + load.neighbours * request.pieces,
          .added = inside.added + half_shard * load.children};
}

}  // namespace

Algorithm hierarchical_tree_all_reduce() {
  return {"hierarchical_tree_all_reduce",
          AlgorithmFamily::hierarchical_tree,
          CollectiveOp::all_reduce,
          "reduce-scatter in each group, two trees for each shard between groups, all-gather",
          fill_hierarchical_tree,
          hierarchical_tree_costs,
          refuse_unequal_groups};
}

}  // namespace foretrain
