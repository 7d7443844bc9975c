// The fitted spreads: how far measured values lie above and below what is predicted, by what is known of the
// case. docs/models/uncertainty.md has the formula; tools/fit_spreads fits and writes the table.
#pragma once

#include <string_view>
#include <vector>

#include "sim/analysis/spreads/spread_case.hpp"

namespace foretrain {

/// How far the ends of the 90 % interval are from what is predicted, as logarithms: measured values lie above
/// `predicted * exp(above)` in one case of twenty, below `predicted * exp(-below)` in another.
struct Reach {
  double above = 0, below = 0;
  friend bool operator==(const Reach&, const Reach&) = default;
};

/// Independent reasons together.
Reach joined(const Reach& a, const Reach& b);

/// What one feature adds to a reach; squares add up.
struct FeatureReach {
  std::string_view feature;
  Reach reach;
};

/// Of all features that have a part in it.
std::vector<FeatureReach> reaches_of(const SpreadCase& known);
Reach reach_of(const SpreadCase& known);

/// Of predicted memory, of whatever training.
Reach memory_reach();

/// The probability that the value is at most `ratio` times what is predicted: a normal distribution of the
/// logarithm on either side of the prediction, which is the median.
double chance_below(double ratio, const Reach& reach);

/// The proper score of a 90 % interval for a residual, the logarithm of measured over predicted: its width,
/// and twenty times what lies outside. The quantiles have the least mean.
double interval_score(double residual, const Reach& reach);

}  // namespace foretrain
