// What an algorithm is asked for: who takes part, in which order, in which groups.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// `order`: the ranks 0 … n-1 as they stand along rings, chains and trees, a group's ranks next to each
/// other. `root` is one of them. `pieces`: how many messages a pipelined algorithm cuts each part into
/// (others send whole parts). `groups`: how many ranks each group (node) has, in the order's order; empty =
/// every rank is a group of its own.
struct AlgorithmRequest {
  std::span<const int> order;
  int root = 0;
  int pieces = 1;
  std::span<const int> groups{};
  int ranks() const { return static_cast<int>(order.size()); }
};

/// Sizes of the groups, also when the request leaves them out.
std::vector<int> group_sizes(const AlgorithmRequest& request);

/// All groups have the same size.
bool has_equal_groups(const AlgorithmRequest& request);

}  // namespace foretrain
