// How many GPUs people ask for.
#pragma once

#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Every number in one node, then whole nodes: 2, 3, 4, 6, 8, 12, 16, … and the most that a partition or the
/// cluster has; as far as the strategy can use them, a partition gives them, they share a global batch, and
/// each node has as many. Ascending.
std::vector<int> numbers_to_ask_for(const Scenario& scenario);

}  // namespace foretrain
