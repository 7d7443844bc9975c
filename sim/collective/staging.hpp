// The slowdown of rings and chains through host memory, where GPUs write and read at the same time.
#pragma once

#include <algorithm>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// Rate at which a GPU writes to host memory and reads from it at the same time, both directions together, as
/// a share of its link's rate. Copies between GPUs through host memory reach 0.99 on V100, 0.82 on A100 and
/// 1.20 on RTX 6000 Ada (docs/sources/links.md 1). Rings of two RTX 4090 reach 0.70, of eight 1.22
/// (docs/measured/nccl.csv, docs/measured/nccl_2.csv). The value is the mean of logarithms.
inline constexpr double kBothWays = 0.96;

/// Returns the time of all steps over the time at the rate of one direction, which is `share` of the link's
/// rate. In a chain of more than two ranks a rank sends while it receives. In a ring's K + 1 steps it does so
/// in all but the first and the last.
inline double both_ways(CollectiveOp op, int ranks, double share) {
  const double more = std::max(0.0, 2 * share / kBothWays - 1);
  if (is_chain(op)) return ranks > 2 ? 1 + more : 1;
  const int steps = ring_traffic(op, ranks).steps;
  return 1 + more * std::max(0, steps - 1) / (steps + 1);
}

}  // namespace foretrain
