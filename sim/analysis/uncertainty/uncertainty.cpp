// Draws of the uncertain inputs by Latin hypercube sampling: each input takes every one of `count` equally
// likely values once, in an order of its own.
//
// The reach of a step says how wide its interval is, and the response says which inputs make it so. A draw
// combines the inputs' normal values with the response as weights into one normal value, and the reach on its
// side turns that into a factor on the step. All numbers of GPUs use the same draws, so that independent
// noise does not blur a comparison of two of them.
#include "sim/analysis/uncertainty/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/base/random.hpp"

namespace foretrain {

namespace {

/// Returns 0 .. count - 1 in an order that depends on seed and stream (Fisher and Yates).
std::vector<int> shuffled(int count, const CounterRandom& random, std::uint64_t stream) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(random.uniform(stream, i) * static_cast<double>(i));
    std::swap(order[i - 1], order[std::min(other, i - 1)]);
  }
  return order;
}

/// Streams of the random generator, beyond those of the inputs.
constexpr std::uint64_t kStrategyStreams = 100, kRunStreams = 1000;

/// Returns a quantile, interpolated between two values; reorders `values`. Linear in their number.
double quantile(std::vector<double>& values, double p) {
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), below, values.end());
  if (below + 1 == values.end()) return *below;
  return *below + (at - std::floor(at)) * (*std::min_element(below + 1, values.end()) - *below);
}

}  // namespace

Draws::Draws(int count, std::uint64_t seed) : count_(count), seed_(seed) {
  const CounterRandom random(seed);
  for (std::size_t input = 0; input < kUncertainCount; ++input) {
    for (const int stratum : shuffled(count, random, input))
      values_[input].push_back(normal_quantile((stratum + 0.5) / count));
  }
}

double Draws::of_run(int gpus, int draw) const {
  return CounterRandom(seed_).normal(kRunStreams + static_cast<std::uint64_t>(gpus),
                                     static_cast<std::uint64_t>(draw));
}

double Draws::of_strategy(std::size_t place, int draw) const {
  return CounterRandom(seed_).normal(kStrategyStreams + place, static_cast<std::uint64_t>(draw));
}

/// The weights are normalized, so the combined value is standard normal whatever the number of inputs.
std::vector<double> step_factors(const StepResponse& response, const Draws& draws, int gpus) {
  std::array<double, kUncertainCount> weights{};
  double norm = 0;
  for (std::size_t i = 0; i < kUncertainCount; ++i) {
    weights[i] = response.up[i] - response.down[i];
    norm += weights[i] * weights[i];
  }
  norm = norm > 0 ? std::sqrt(norm) : 1;
  const Reach reach = reach_of(response);
  std::vector<double> factors;
  factors.reserve(static_cast<std::size_t>(draws.count()));
  for (int draw = 0; draw < draws.count(); ++draw) {
    double z = 0;
    for (const UncertainInput& input : uncertain_inputs()) {
      const double weight = weights[index_of(input.which)] / norm;
      if (weight == 0) continue;
      // Noise between runs is drawn for each number of GPUs by itself.
      z += weight * (input.which == Uncertain::run_to_run ? draws.of_run(gpus, draw)
                                                          : draws.normal(input.which, draw));
    }
    factors.push_back(std::exp(z / kReach * (z >= 0 ? reach.above : reach.below)));
  }
  return factors;
}

Interval interval_of(std::vector<double> values, double level) {
  const double low = quantile(values, (1 - level) / 2), high = quantile(values, (1 + level) / 2);
  return {low, high, level};
}

}  // namespace foretrain
