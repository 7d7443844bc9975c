// reach = sqrt(sum of (term x feature)^2) x product of factors^feature, each side by itself.
#include "sim/analysis/spreads/spread_table.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <numbers>

namespace foretrain {

namespace {

struct SpreadTerm {
  SpreadOf what;
  std::string_view feature;
  double above, below;
};

struct SpreadFactor {
  SpreadOf what;
  std::string_view feature;
  double factor;  ///< 1 or more: what is not known never narrows
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

FeatureValue value_of(std::string_view feature, const SpreadCase& known) {
  const auto row = std::ranges::find(spread_features(), feature, &SpreadFeature::name);
  assert(row != spread_features().end());
  return row->value(known);
}

double factor_of(const SpreadCase& known) {
  double factor = 1;
  for (const SpreadFactor& row : kFactors)
    if (row.what == known.what) factor *= std::pow(row.factor, value_of(row.feature, known).above);
  return factor;
}

}  // namespace

Reach joined(const Reach& a, const Reach& b) {
  return {std::hypot(a.above, b.above), std::hypot(a.below, b.below)};
}

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

double chance_below(double ratio, const Reach& reach) {
  constexpr double kNormalAt95 = 1.6448536269514722;
  const double at = std::log(ratio), side = at >= 0 ? reach.above : reach.below;
  if (!(side > 0)) return at >= 0 ? 1 : 0;
  return std::erfc(-at / side * kNormalAt95 / std::numbers::sqrt2) / 2;
}

double interval_score(double residual, const Reach& reach) {
  constexpr double kOutside = 2 / (1 - 0.9);
  return reach.above + reach.below +
         kOutside * (std::max(0.0, residual - reach.above) + std::max(0.0, -residual - reach.below));
}

}  // namespace foretrain
