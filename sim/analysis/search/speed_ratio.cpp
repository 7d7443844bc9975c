// The interval of the ratio of two strategies' speeds. Both see the same machine in each draw; only the noise
// of their own software is drawn independently.
#include <algorithm>
#include <cmath>

#include "sim/analysis/search/strategy_order.hpp"

namespace foretrain {

namespace {

/// Standard deviation of the logarithm of one strategy's speed that another one does not share, for the
/// scenario's own framework and for others. The values come from residuals of pairs at the same setting in
/// docs/measured/scaling.csv, by the median of their sizes. Within a framework: 1.5 % (DDP and DeepSpeed on
/// Puhti, 96 pairs) and 5.6 % (TensorFlow on RTX 8000, 69 pairs). Between frameworks on one node: 3 to 6 %
/// (283 pairs).
constexpr double kOwnSoftware = 0.035, kOtherFramework = 0.055;

/// Returns the logarithm of a strategy's own noise in one draw.
double own_noise(const DrawnSpeed& speed, const Draws& draws, int draw) {
  return (speed.is_own_framework ? kOwnSoftware : kOtherFramework) * draws.of_strategy(speed.place, draw);
}

}  // namespace

Range speed_ratio_range(const DrawnSpeed& a, const DrawnSpeed& b, const Draws& draws) {
  const double ratio = a.samples_per_s / b.samples_per_s;
  // A strategy compared with itself has no uncertainty.
  if (a.place == b.place) return {ratio, ratio};
  std::vector<double> ratios;
  for (int i = 0; i < draws.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double noise = own_noise(a, draws, i) - own_noise(b, draws, i);
    ratios.push_back(ratio * b.step_factors[at] / a.step_factors[at] * std::exp(noise));
  }
  const Interval interval = interval_of(std::move(ratios));
  // The predicted ratio always lies inside its interval.
  return {std::min(interval.low_s, ratio), std::max(interval.high_s, ratio)};
}

}  // namespace foretrain
