// The order of compared strategies: which are as fast as the fastest, which cannot be told apart from it, and
// which need more than a script has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/step/prediction_point.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

// The probability that one strategy is faster than another on the same GPUs.

/// The speed of one strategy: samples per second, and the factor on its step in each draw.
struct DrawnSpeed {
  double samples_per_s = 0;
  std::vector<double> step_factors;
  /// Index among the compared strategies, which selects its own noise.
  std::size_t place = 0;
  /// True if it runs in the scenario's framework.
  bool is_own_framework = true;
};

/// Returns the 90 % interval of `a`'s samples per second over `b`'s. Inputs that slow both down alike cancel;
/// the noise of each one's own software does not (docs/models/choices.md). The range contains the ratio
/// itself.
Range speed_ratio_range(const DrawnSpeed& a, const DrawnSpeed& b, const Draws& draws);

/// Differences below this share count as none: runs of one job on one machine differ by as much.
inline constexpr double kWorthSwitching = 0.02;

/// Sets the fastest, each row's standing and ratio, and the order of the rows. `speeds` has one entry for
/// each row, in the order before sorting.
void set_order(ComparedGpus& numbers, const std::string& own_strategy, const std::vector<DrawnSpeed>& speeds,
               const Draws& draws);

}  // namespace foretrain
