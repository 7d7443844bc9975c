// Two parameters for fit(); it starts at the fastest point and where half of that is first reached.
#include "calibrate/fit/saturating.hpp"

#include <algorithm>

#include "calibrate/fit/least_squares.hpp"

namespace foretrain::fit {

namespace {

/// What curves of machines stay within of what their points show; so much is known before.
constexpr double kFarthest = 1000, kPeakPrior = 1, kHalfPrior = 3;

/// The largest size below half of the fastest rate, or half of the smallest size where all are faster.
double first_half(const std::vector<RatePoint>& points, double peak) {
  double half = 0, smallest = points.front().bytes;
  for (const RatePoint& p : points) {
    smallest = std::min(smallest, p.bytes);
    if (2 * p.bytes_per_second < peak) half = std::max(half, p.bytes);
  }
  return half > 0 ? half : smallest / 2;
}

}  // namespace

Saturating fit_saturating(const std::vector<RatePoint>& points) {
  if (points.empty()) return {};
  double peak = 0;
  Problem problem;
  for (const RatePoint& p : points) {
    peak = std::max(peak, p.bytes_per_second);
    problem.measured.push_back(p.bytes_per_second);
    problem.spread.push_back(p.spread);
  }
  const double half = first_half(points, peak);
  problem.parameters = {{"peak", peak, peak / kFarthest, peak * kFarthest, kPeakPrior},
                        {"half", half, half / kFarthest, half * kFarthest, kHalfPrior}};
  problem.predict = [&points](const std::vector<double>& values) {
    std::vector<double> rates;
    for (const RatePoint& p : points) rates.push_back(values[0] * p.bytes / (p.bytes + values[1]));
    return rates;
  };
  const Fit found = fit(problem);
  const FittedParameter &fitted_peak = found.parameters[0], &fitted_half = found.parameters[1];
  return {fitted_peak.value, fitted_half.value, fitted_peak.spread, fitted_half.spread, found.scale, static_cast<int>(points.size())};
}

}  // namespace foretrain::fit
