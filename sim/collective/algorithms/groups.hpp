// Two levels: what the ranks of equal groups do among themselves before and after the groups talk to each
// other.
#pragma once

#include <string_view>

#include "sim/collective/algorithms/request.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

/// Equal groups of places: member j of group a is place a size + j. Member j cares for shard j, which is
/// chunks / size chunks.
struct Groups {
  int count = 1;
  int size = 1;
  int place(int group, int member) const { return group * size + member; }
};

/// Requires equal groups.
Groups groups_of(const AlgorithmRequest& request);

/// A tree over groups as a tree over the places of one member.
Tree tree_of_member(const Tree& over_groups, const Groups& groups, int member);

/// A ring reduce-scatter inside every group. Returns by place what to wait for in order to have the group's
/// sum of the own shard.
NeedsByPlace add_reduce_scatter_inside(Lanes& lanes, const Groups& groups);

/// A ring all-gather inside every group, after `starts` by place.
void add_all_gather_inside(Lanes& lanes, const Groups& groups, const NeedsByPlace& starts);

/// Costs of both.
LaneCosts costs_inside(const Groups& groups);

std::string_view refuse_unequal_groups(const AlgorithmRequest& request);

}  // namespace foretrain
