// The scale is a median, which a few outliers do not move; where a fit leaves nothing to judge it by, what
// collectives usually scatter.
#include "calibrate/fit/robust_scale.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain::fit {

namespace {

constexpr double kSmallest = 1e-3;       ///< no measurement and no model is believed further
constexpr double kUsual = 0.05;          ///< where the residuals cannot tell
constexpr double kNeededFreedom = 2;     ///< below it they cannot
constexpr double kMadOfNormal = 1.4826;  ///< standard deviation over median |r|
constexpr double kHuberBend = 1.345;     ///< Huber's; 95 % efficient on normal residuals

double blended(double variance, double freedom) {
  const double missing = std::clamp(kNeededFreedom - freedom, 0.0, kNeededFreedom) / kNeededFreedom;
  return (1 - missing) * variance + missing * kUsual * kUsual;
}

double median_of_absolutes(std::span<const double> values) {
  std::vector<double> absolutes;
  absolutes.reserve(values.size());
  for (const double value : values) absolutes.push_back(std::abs(value));
  return median(std::move(absolutes));
}

/// Known deviations; those that are not known as their median.
std::vector<double> completed(const std::vector<double>& spread, std::size_t n) {
  std::vector<double> known;
  for (const double s : spread) {
    if (s > 0) known.push_back(s);
  }
  const double usual = median(known);
  std::vector<double> out(n, usual);
  for (std::size_t i = 0; i < spread.size(); ++i) out[i] = spread[i] > 0 ? spread[i] : usual;
  return out;
}

/// Student's 95 % quantile over the normal one (Cornish and Fisher 1938).
double student_widening(double freedom) {
  constexpr double z = 1.645;
  const double f = std::max(freedom, kNeededFreedom);
  return 1 + (z * z + 1) / (4 * f) + (5 * std::pow(z, 4) + 16 * z * z + 3) / (96 * f * f);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

RobustScale robust_scale(std::span<const double> residuals, const std::vector<double>& spread,
                         double freedom) {
  const auto n = static_cast<double>(residuals.size());
  const double widening = std::sqrt(n / std::max(freedom, 1.0));
  RobustScale scale;
  const double raw = kMadOfNormal * median_of_absolutes(residuals) * std::max(widening, 1.0);
  scale.residuals = std::max(std::sqrt(blended(raw * raw, freedom)), kSmallest);
  const std::vector<double> own = completed(spread, residuals.size());
  const double usual = median(own);
  const double of_model = std::max(scale.residuals * scale.residuals - usual * usual, kSmallest * kSmallest);
  std::vector<double> relative;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    scale.deviations.push_back(std::hypot(std::sqrt(of_model), own[i]));
    relative.push_back(residuals[i] / scale.deviations.back());
  }
  const double reached = kMadOfNormal * median_of_absolutes(relative) * std::max(widening, 1.0);
  const double least = kSmallest / std::max(median(scale.deviations), kSmallest);
  scale.bend = kHuberBend * std::max(freedom < kNeededFreedom ? 1.0 : reached, least);
  return scale;
}

double variance_of_estimate(const RobustScale& scale, std::span<const double> residuals, double freedom) {
  if (residuals.empty()) return 1;
  double squares = 0, slope = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const double z = residuals[i] / scale.deviations[i];
    const double bent = std::hypot(1, z / scale.bend);
    squares += z * z / (bent * bent);
    slope += 1 / (bent * bent * bent);
  }
  const auto n = static_cast<double>(residuals.size());
  const double mean_slope = slope / n;
  const double usual = median(scale.deviations);
  const double variance =
      blended(squares / std::max(freedom, 1.0) * usual * usual, freedom) / (usual * usual);
  const double small = kSmallest / usual;
  const double widening = student_widening(freedom);
  return std::max(variance, small * small) / (mean_slope * mean_slope) * widening * widening;
}

}  // namespace foretrain::fit
