// Ring in two levels (Horovod, BlueConnect): reduce-scatter inside every group, a ring all-reduce between the
// groups for each shard, all-gather inside.
//
// Links between groups carry S / p bytes for each of the p members of a group instead of S. The long ring
// over all ranks becomes two short ones: latency grows with p + N instead of p N steps.
#include <algorithm>

#include "sim/collective/algorithms/groups.hpp"
#include "sim/collective/algorithms/ring.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

/// Adds the ring all-reduce of shard `member` between the groups. On return `ready` holds what the places of
/// this member wait for after it.
void add_between(Lanes& lanes, const Groups& groups, int member, int pieces, NeedsByPlace& ready) {
  const int m = groups.count, shard = lanes.chunks / groups.size;
  RingLanes ring{.places = {},
                 .steps = 2 * (m - 1),
                 .shift = -1,
                 .adding_steps = m - 1,
                 .pieces = pieces,
                 .base = member * shard};
  NeedsByPlace starts;
  for (int group = 0; group < m; ++group) {
    ring.places.push_back(groups.place(group, member));
    starts.push_back(ready[static_cast<std::size_t>(ring.places.back())]);
  }
  const std::uint32_t first = add_ring(lanes, ring, starts);
  for (int group = 0; group < m; ++group) {
    const int into = (group + m - 1) % m;
    ready[static_cast<std::size_t>(ring.places[static_cast<std::size_t>(group)])] = {
        last_of(lanes, first + static_cast<std::uint32_t>(into))};
  }
}

void fill_hierarchical_ring(Lanes& lanes, const AlgorithmRequest& request) {
  const Groups groups = groups_of(request);
  lanes.chunks = groups.size * groups.count * request.pieces;
  NeedsByPlace ready = add_reduce_scatter_inside(lanes, groups);
  if (groups.count > 1) {
    for (int member = 0; member < groups.size; ++member)
      add_between(lanes, groups, member, request.pieces, ready);
  }
  add_all_gather_inside(lanes, groups, ready);
}

/// Returns the sum of the closed forms of both levels; the level between the groups moves one shard.
LaneCosts hierarchical_ring_costs(const AlgorithmRequest& request) {
  const Groups groups = groups_of(request);
  const LaneCosts inside = costs_inside(groups), between = ring_costs(groups.count, request.pieces, 2, 1);
  const double bytes = inside.sent + between.sent / groups.size;
  return {.hops = inside.hops + between.hops,
          .steps = inside.steps + between.steps,
          .sent = bytes,
          .received = bytes,
          .pair = std::max(inside.pair, between.pair / groups.size),
          .message = groups.size > 1 ? inside.message : between.message,
          .chain = bytes,
          .messages = inside.messages + between.messages,
          .added = bytes / 2};
}

}  // namespace

Algorithm hierarchical_ring_all_reduce() {
  return {"hierarchical_ring_all_reduce",
          AlgorithmFamily::hierarchical_ring,
          CollectiveOp::all_reduce,
          "reduce-scatter in each group, ring all-reduce of the shards between groups, all-gather",
          fill_hierarchical_ring,
          hierarchical_ring_costs,
          refuse_unequal_groups};
}

}  // namespace foretrain
