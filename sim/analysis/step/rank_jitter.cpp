// Moments of the maximum of n standard normals by the trapezoid rule, which converges fast for smooth
// functions that vanish at both ends. The density of the maximum is proportional to phi(x) Phi(x)^(n-1).
#include "sim/analysis/step/rank_jitter.hpp"

#include <cmath>
#include <numbers>

#include "sim/base/median.hpp"

namespace foretrain {

namespace {

/// Fewest steps of a log whose standard deviation is used.
constexpr int kFewestSteps = 20;

}  // namespace

double spread_of_slowest(int ranks) {
  // Bounds and step of the integral, in standard deviations.
  constexpr double kFarthest = 9, kStep = 0.01;
  double sum = 0, mean = 0, square = 0;
  for (double x = -kFarthest; x <= kFarthest; x += kStep) {
    const double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    const double density = std::exp(-x * x / 2) * std::pow(below, ranks - 1);
    sum += density, mean += x * density, square += x * x * density;
  }
  mean /= sum;
  return std::sqrt(square / sum - mean * mean);
}

std::optional<CalibratedConstant> rank_spread_of(const std::vector<Sample>& samples) {
  std::vector<double> spreads;
  int steps = 0;
  // The measured standard deviation is divided by that of the maximum over the job's ranks.
  for (const Sample& sample : samples) {
    if (sample.kind != SampleKind::training || sample.what != "step" || sample.repeats < kFewestSteps ||
        !(sample.spread > 0))
      continue;
    spreads.push_back(sample.spread / spread_of_slowest(sample.gpus));
    steps += sample.repeats;
  }
  if (spreads.empty()) return std::nullopt;
  CalibratedConstant constant;
  constant.name = "loss.rank_spread", constant.value = median(spreads),
  constant.samples = static_cast<int>(spreads.size());
  // The relative error of a standard deviation that was estimated from this many normal values.
  constant.spread = 1 / std::sqrt(2.0 * (steps - 1));
  return constant;
}

}  // namespace foretrain
