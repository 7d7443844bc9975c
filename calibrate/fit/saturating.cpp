// Two parameters for fit(); it starts near the fastest points and at the half size that the middle one
// implies.
#include "calibrate/fit/saturating.hpp"

#include <algorithm>

#include "calibrate/fit/least_squares.hpp"
#include "calibrate/fit/robust_scale.hpp"

namespace foretrain::fit {

namespace {

/// So much is known before: the points' own sizes and rates are not far from the curve's.
constexpr double kPeakPrior = 2, kHalfPrior = 4;

/// The rate that a tenth of the points exceed: the fastest may be outliers.
double start_of_peak(const std::vector<RatePoint>& points) {
  std::vector<double> rates;
  for (const RatePoint& p : points) rates.push_back(p.bytes_per_second);
  const auto place = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) * 9 / 10);
  std::nth_element(rates.begin(), place, rates.end());
  return *place;
}

/// As far below a point as it lies below the peak; the median of the points.
double start_of_half(const std::vector<RatePoint>& points, double peak) {
  std::vector<double> halves;
  for (const RatePoint& p : points) halves.push_back(p.bytes * std::max(peak / p.bytes_per_second - 1, 0.01));
  return median(std::move(halves));
}

}  // namespace

Saturating fit_saturating(const std::vector<RatePoint>& points) {
  if (points.empty()) return {};
  Problem problem;
  for (const RatePoint& p : points)
    problem.measured.push_back(p.bytes_per_second), problem.spread.push_back(p.spread);
  const double peak = start_of_peak(points), half = start_of_half(points, peak);
  problem.parameters = {{"peak", peak, 0, 0, kPeakPrior}, {"half", half, 0, 0, kHalfPrior}};
  problem.predict = [&points](const std::vector<double>& values) {
    std::vector<double> rates;
    for (const RatePoint& p : points) rates.push_back(values[0] * p.bytes / (p.bytes + values[1]));
    return rates;
  };
  const Fit found = fit(problem);
  const FittedParameter &fitted_peak = found.parameters[0], &fitted_half = found.parameters[1];
  return {fitted_peak.value,  fitted_half.value, fitted_peak.spread,
          fitted_half.spread, found.scale,       static_cast<int>(points.size())};
}

}  // namespace foretrain::fit
