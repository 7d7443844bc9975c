// The fitted table of spreads. The reach of an interval is sqrt(sum of (term x feature)^2) x product of
// factors^feature, above and below by themselves. Squares are added because the features stand for
// independent reasons; factors are at least 1, so that a missing fact never narrows an interval.
//
// The rows are in spreads.inc, which tools/fit_spreads writes. It is included twice, once for terms and once
// for factors.
#include "sim/analysis/spreads/spread_table.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <numbers>

namespace foretrain {

namespace {

/// A row of the table: the coefficients of one feature for one kind of case.
struct SpreadTerm {
  SpreadOf what;
  std::string_view feature;
  double above, below;
};

/// A factor on all terms of one kind of case.
struct SpreadFactor {
  SpreadOf what;
  std::string_view feature;
  /// Factor of at least 1.
  double factor;
};

#define TERM(what, feature, above, below) SpreadTerm{SpreadOf::what, #feature, above, below},
#define FACTOR(...)
constexpr SpreadTerm kTerms[] = {
#include "sim/analysis/spreads/spreads.inc"
};
#undef TERM
#undef FACTOR
#define TERM(...)
#define FACTOR(what, feature, factor) SpreadFactor{SpreadOf::what, #feature, factor},
constexpr SpreadFactor kFactors[] = {
#include "sim/analysis/spreads/spreads.inc"
};
#undef TERM
#undef FACTOR

/// Returns the feature's value; a name without a feature is a fault of the table.
FeatureValue value_of(std::string_view feature, const SpreadCase& known) {
  const auto row = std::ranges::find(spread_features(), feature, &SpreadFeature::name);
  assert(row != spread_features().end());
  return row->value(known);
}

/// Returns the product of all factors that apply to the case.
double factor_of(const SpreadCase& known) {
  double factor = 1;
  for (const SpreadFactor& row : kFactors)
    if (row.what == known.what) factor *= std::pow(row.factor, value_of(row.feature, known).above);
  return factor;
}

}  // namespace

/// Squares add up on each side.
Reach joined(const Reach& a, const Reach& b) {
  return {std::hypot(a.above, b.above), std::hypot(a.below, b.below)};
}

/// Features that are zero for the case are left out.
std::vector<FeatureReach> reaches_of(const SpreadCase& known) {
  const double factor = factor_of(known);
  std::vector<FeatureReach> out;
  for (const SpreadTerm& row : kTerms) {
    if (row.what != known.what) continue;
    const FeatureValue value = value_of(row.feature, known);
    if (value.above == 0 && value.below == 0) continue;
    out.push_back({row.feature, {factor * row.above * value.above, factor * row.below * value.below}});
  }
  return out;
}

Reach reach_of(const SpreadCase& known) {
  Reach out;
  for (const FeatureReach& part : reaches_of(known)) out = joined(out, part.reach);
  return out;
}

Reach memory_reach() { return reach_of(SpreadCase{.what = SpreadOf::memory}); }

/// The two sides have different widths, but the prediction stays the median.
double chance_below(double ratio, const Reach& reach) {
  constexpr double kNormalAt95 = 1.6448536269514722;
  const double at = std::log(ratio), side = at >= 0 ? reach.above : reach.below;
  if (!(side > 0)) return at >= 0 ? 1 : 0;
  return std::erfc(-at / side * kNormalAt95 / std::numbers::sqrt2) / 2;
}

/// The penalty for values outside is 2 / (1 - level) times their distance, as in the interval score of a 90 %
/// interval.
double interval_score(double residual, const Reach& reach) {
  constexpr double kOutside = 2 / (1 - 0.9);
  return reach.above + reach.below +
         kOutside * (std::max(0.0, residual - reach.above) + std::max(0.0, -residual - reach.below));
}

}  // namespace foretrain
