// A shard is one message per step inside a group. The cut of a shard into pieces matters only between the
// groups.
#include "sim/collective/algorithms/groups.hpp"

#include "sim/collective/algorithms/ring.hpp"

namespace foretrain {

namespace {

/// Returns a ring over the members of one group that moves one shard per message.
RingLanes ring_inside(const Lanes& lanes, const Groups& groups, int group) {
  RingLanes ring{.places = {}, .steps = groups.size - 1, .width = lanes.chunks / groups.size};
  for (int member = 0; member < groups.size; ++member) ring.places.push_back(groups.place(group, member));
  return ring;
}

}  // namespace

Groups groups_of(const AlgorithmRequest& request) {
  const int size = request.groups.empty() ? 1 : request.groups.front();
  return {request.ranks() / size, size};
}

Tree tree_of_member(const Tree& over_groups, const Groups& groups, int member) {
  Tree tree(static_cast<std::size_t>(groups.count * groups.size), -1);
  for (int group = 0; group < groups.count; ++group) {
    const int parent = over_groups[static_cast<std::size_t>(group)];
    if (parent >= 0)
      tree[static_cast<std::size_t>(groups.place(group, member))] = groups.place(parent, member);
  }
  return tree;
}

NeedsByPlace add_reduce_scatter_inside(Lanes& lanes, const Groups& groups) {
  NeedsByPlace done(static_cast<std::size_t>(lanes.ranks));
  if (groups.size == 1) return done;
  for (int group = 0; group < groups.count; ++group) {
    RingLanes ring = ring_inside(lanes, groups, group);
    ring.shift = -1;
    ring.adding_steps = ring.steps;
    const std::uint32_t first = add_ring(lanes, ring);
    for (int member = 0; member < groups.size; ++member) {
      // The last message into a member, from its neighbour on the ring, completes the sum.
      const int into = (member + groups.size - 1) % groups.size;
      done[static_cast<std::size_t>(groups.place(group, member))] = {
          last_of(lanes, first + static_cast<std::uint32_t>(into))};
    }
  }
  return done;
}

void add_all_gather_inside(Lanes& lanes, const Groups& groups, const NeedsByPlace& starts) {
  if (groups.size == 1) return;
  for (int group = 0; group < groups.count; ++group) {
    const auto first = starts.begin() + groups.place(group, 0);
    add_ring(lanes, ring_inside(lanes, groups, group), {first, first + groups.size});
  }
}

LaneCosts costs_inside(const Groups& groups) { return ring_costs(groups.size, 1, 2, 1); }

std::string_view refuse_unequal_groups(const AlgorithmRequest& request) {
  return has_equal_groups(request) ? "" : "the nodes have different numbers of ranks";
}

}  // namespace foretrain
