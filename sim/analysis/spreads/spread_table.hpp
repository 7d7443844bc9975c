// The fitted spreads: how far measured values lie above and below predictions, by the facts about a case.
// docs/models/uncertainty.md has the formula; tools/fit_spreads fits and writes the table.
#pragma once

#include <string_view>
#include <vector>

#include "sim/analysis/spreads/spread_case.hpp"

namespace foretrain {

/// The distances of the ends of a 90 % interval from the prediction, as logarithms. Measured values lie above
/// `predicted * exp(above)` in one case of twenty, and below `predicted * exp(-below)` in another.
struct Reach {
  double above = 0, below = 0;
  friend bool operator==(const Reach&, const Reach&) = default;
};

/// Returns the reach of two independent reasons together: the squares add up on each side.
Reach joined(const Reach& a, const Reach& b);

/// The part of one feature in a reach; the squares of all parts add up.
struct FeatureReach {
  std::string_view feature;
  Reach reach;
};

/// Returns the parts of all features that are not zero for the case.
std::vector<FeatureReach> reaches_of(const SpreadCase& known);
/// Returns the reach of the case, which is these parts joined.
Reach reach_of(const SpreadCase& known);

/// Returns the reach of predicted memory, which is the same for every training.
Reach memory_reach();

/// Returns the probability that the value is at most `ratio` times the prediction. The logarithm is normal on
/// either side of the prediction, which is the median. Requires ratio > 0.
double chance_below(double ratio, const Reach& reach);

/// Returns the interval score, the proper score of a 90 % interval: its width plus twenty times the distance
/// of a residual outside. `residual` is the logarithm of measured over predicted. The true quantiles have the
/// least mean score.
double interval_score(double residual, const Reach& reach);

}  // namespace foretrain
