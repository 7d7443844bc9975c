// Binomial trees whose subtrees are runs of consecutive places.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// Returns the number of edges from the root to the deepest place: the most ones in any number below n.
/// Requires n >= 2.
int binomial_depth(int n);

/// Returns the number of places in the largest subtree below the root, as a share of all places.
double largest_subtree(int n);

/// Returns the largest sum of parts that the messages on the path from the root to one place carry, as a
/// share of all parts.
double heaviest_branch(int n);

/// Scatters parts of equal size (chunks / ranks chunks) from place 0. Returns by place the lane that brings
/// its part.
std::vector<std::uint32_t> add_binomial_scatter(Lanes& lanes);

}  // namespace foretrain
