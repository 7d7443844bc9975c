// What rings and chains through host memory take, where GPUs write and read at once.
#pragma once

#include <algorithm>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// Of its link's rate, what a GPU writes to host memory and reads from there at once, in both ways together:
/// copies between GPUs through host memory reach 0.99 on V100, 0.82 on A100, 1.20 on RTX 6000 Ada
/// (docs/sources/links.md 1), rings of two RTX 4090 0.70, of eight 1.22 (docs/measured/nccl.csv,
/// docs/measured/nccl_2.csv); the mean of logarithms.
inline constexpr double kBothWays = 0.96;

/// Seconds of all steps over those at the rate of one way, `share` of the link's. In a chain of more than two
/// a rank sends what it receives; in a ring's K + 1 steps it does so in all but the first and the last.
inline double both_ways(CollectiveOp op, int ranks, double share) {
  const double more = std::max(0.0, 2 * share / kBothWays - 1);
  if (is_chain(op)) return ranks > 2 ? 1 + more : 1;
  const int steps = ring_traffic(op, ranks).steps;
  return 1 + more * std::max(0, steps - 1) / (steps + 1);
}

}  // namespace foretrain
