// Algorithms with two levels: the exchange inside equal groups before and after the groups exchange data.
#pragma once

#include <string_view>

#include "sim/collective/algorithms/request.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

/// Equal groups of places: member j of group a is place a size + j. Member j is responsible for shard j,
/// which has chunks / size chunks.
struct Groups {
  int count = 1;
  int size = 1;
  int place(int group, int member) const { return group * size + member; }
};

/// Returns the groups of the request. Requires equal groups.
Groups groups_of(const AlgorithmRequest& request);

/// Returns a tree over groups as a tree over the places of one member.
Tree tree_of_member(const Tree& over_groups, const Groups& groups, int member);

/// Adds a ring reduce-scatter inside every group. Returns by place the needs after which a place has the
/// group's sum of its own shard.
NeedsByPlace add_reduce_scatter_inside(Lanes& lanes, const Groups& groups);

/// Adds a ring all-gather inside every group. A place begins after its `starts`.
void add_all_gather_inside(Lanes& lanes, const Groups& groups, const NeedsByPlace& starts);

/// Returns the costs of both together.
LaneCosts costs_inside(const Groups& groups);

/// Refuses requests whose groups have different sizes.
std::string_view refuse_unequal_groups(const AlgorithmRequest& request);

}  // namespace foretrain
