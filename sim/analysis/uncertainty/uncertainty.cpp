// Latin hypercube sampling: each input takes every one of `count` equally likely values once, in an order of
// its own.
//
// An interval is built in two stages. First the response: by how much the logarithm of the step changes when
// one input alone moves to its 5 % or 95 % quantile. Derivatives come from the critical path and cost
// nothing; inputs that are hidden behind something longer are simulated once more. Then the draws: a thousand
// samples of all inputs, combined along the responses. The same draws are used for every number of GPUs, so
// that a comparison of two of them is not blurred by independent noise.
#include "sim/analysis/uncertainty/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/base/random.hpp"

namespace foretrain {

namespace {

/// 0 .. count - 1 in an order that depends on seed and stream (Fisher and Yates).
std::vector<int> shuffled(int count, const CounterRandom& random, std::uint64_t stream) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(random.uniform(stream, i) * static_cast<double>(i));
    std::swap(order[i - 1], order[std::min(other, i - 1)]);
  }
  return order;
}

/// Of the random generator, beyond those of the inputs.
constexpr std::uint64_t kStrategyStreams = 100, kRunStreams = 1000;

/// Moves the values about.
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
