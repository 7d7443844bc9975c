// Medians by nth_element: a point has a few hundred repeats.
#include "calibrate/micro/plan/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain::micro {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Summary summarize(const std::vector<double>& values) {
  constexpr double kNormal =
      1.4826;  // standard deviation / median absolute deviation of a normal distribution
  Summary summary{median_of(values), 0, static_cast<int>(values.size())};
  if (summary.median == 0) return summary;
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - summary.median));
  summary.spread = kNormal * median_of(std::move(deviations)) / std::abs(summary.median);
  return summary;
}

double median_error(const Summary& summary) {
  constexpr double kMedianToMean = 1.2533;  // sqrt(pi / 2)
  return summary.repeats == 0 ? 0 : kMedianToMean * summary.spread / std::sqrt(summary.repeats);
}

}  // namespace foretrain::micro
