// Latin hypercube sampling: each input takes every one of `count` equally likely values once, in an order of
// its own.
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

double loss_factor(const StepResponse& response, double loss) {
  constexpr std::size_t kLoss = index_of(Uncertain::unmodelled);
  return 1 + response.up[kLoss] * loss + response.down[kLoss];
}

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
  for (const int stratum : shuffled(count, random, kUncertainCount))
    losses_.push_back(-std::log1p(-(stratum + 0.5) / count));
}

double Draws::of_run(int gpus, int draw) const {
  return CounterRandom(seed_).normal(kRunStreams + static_cast<std::uint64_t>(gpus),
                                     static_cast<std::uint64_t>(draw));
}

double Draws::of_strategy(std::size_t place, int draw) const {
  return CounterRandom(seed_).normal(kStrategyStreams + place, static_cast<std::uint64_t>(draw));
}

std::vector<double> step_factors(const StepResponse& response, const Draws& draws, int gpus) {
  constexpr std::array kShared{Uncertain::kernels,    Uncertain::host,    Uncertain::input,
                               Uncertain::node_links, Uncertain::network, Uncertain::stragglers,
                               Uncertain::busy_node,  Uncertain::scaling};
  std::vector<double> factors;
  factors.reserve(static_cast<std::size_t>(draws.count()));
  for (int i = 0; i < draws.count(); ++i) {
    double log_factor = response.at(Uncertain::run_to_run, draws.of_run(gpus, i));
    for (const Uncertain input : kShared) log_factor += response.at(input, draws.normal(input, i));
    factors.push_back(std::exp(log_factor) * loss_factor(response, draws.loss(i)));
  }
  return factors;
}

Interval interval_of(std::vector<double> values, double level) {
  const double low = quantile(values, (1 - level) / 2), high = quantile(values, (1 + level) / 2);
  return {low, high, level};
}

Interval step_interval(double step_s, std::vector<double> factors) {
  Interval interval = interval_of(std::move(factors));
  interval.low_s = step_s * std::min(1.0, interval.low_s);
  interval.high_s = step_s * std::max(1.0, interval.high_s);
  return interval;
}

}  // namespace foretrain
