// Binomial trees whose subtrees are runs of places.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// The most ones in a number below n: edges from the root to the deepest place. Requires n >= 2.
int binomial_depth(int n);

/// Places in the largest subtree below the root, as a share of all.
double largest_subtree(int n);

/// The most parts that the messages from the root to one place carry together, as a share of all.
double heaviest_branch(int n);

/// Scatters parts of equal size (chunks / ranks chunks) from place 0. Returns by place the lane that brings
/// its part.
std::vector<std::uint32_t> add_binomial_scatter(Lanes& lanes);

}  // namespace foretrain
