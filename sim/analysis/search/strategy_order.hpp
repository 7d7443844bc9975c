// Which strategies are as fast as the fastest, which cannot be told apart from it, and which need more than a
// script has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/step/prediction_point.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

// How sure it is that one strategy is faster than another on the same GPUs.

/// One strategy in the draws: samples per second, and by which factor its step is longer in each.
struct DrawnSpeed {
  double samples_per_s = 0;
  std::vector<double> step_factors;
  std::size_t place = 0;         ///< in the catalog: its own noise
  bool is_own_framework = true;  ///< that of the scenario
};

/// 90 % of `a`'s samples per second over `b`'s: inputs that slow both down alike cancel, what each one's own
/// software takes does not (docs/models/compare.md). Contains the ratio itself.
Range speed_ratio_range(const DrawnSpeed& a, const DrawnSpeed& b, const Draws& draws);

/// Differences below this share are none: runs of one job on one machine differ by as much.
inline constexpr double kWorthSwitching = 0.02;

/// Sets the fastest, each row's standing and ratio, and the order of the rows. `speeds`: of the rows, as they
/// stand.
void set_order(ComparedGpus& numbers, const std::string& own_strategy, const std::vector<DrawnSpeed>& speeds,
               const Draws& draws);

}  // namespace foretrain
