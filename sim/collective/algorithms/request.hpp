// The request to an algorithm: the ranks that take part, their order and their groups.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// The ranks that take part. Ranks of a group stand next to each other.
struct AlgorithmRequest {
  /// The ranks 0 … n-1 in the order in which they stand along rings, chains and trees.
  std::span<const int> order;
  /// A rank of the order.
  int root = 0;
  /// Number of messages into which a pipelined algorithm cuts each part. Other algorithms send whole parts.
  int pieces = 1;
  /// Number of ranks of each group (node), in the sequence of the order; empty: every rank is a group of its
  /// own.
  std::span<const int> groups{};
  int ranks() const { return static_cast<int>(order.size()); }
};

/// Returns the sizes of the groups; 1 for each rank if the request has no groups.
std::vector<int> group_sizes(const AlgorithmRequest& request);

/// Returns whether all groups have the same size.
bool has_equal_groups(const AlgorithmRequest& request);

}  // namespace foretrain
