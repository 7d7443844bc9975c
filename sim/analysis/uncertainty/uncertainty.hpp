// How sure: intervals from many draws of the inputs, the same draws for every number of GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/uncertainty/step_response.hpp"

namespace foretrain {

/// Standard normal values of every input, stratified, so that few draws have exact quantiles. The same seed
/// gives the same draws.
class Draws {
 public:
  static constexpr std::uint64_t kSeed = 20231;
  explicit Draws(int count = 1000, std::uint64_t seed = kSeed);
  int count() const { return count_; }
  double normal(Uncertain input, int draw) const {
    return values_[index_of(input)][static_cast<std::size_t>(draw)];
  }
  /// Exponential with mean 1.
  double loss(int draw) const { return losses_[static_cast<std::size_t>(draw)]; }
  /// Standard normal, another one for each number of GPUs: what one run differs from the next.
  double of_run(int gpus, int draw) const;

 private:
  int count_;
  std::uint64_t seed_;
  std::array<std::vector<double>, kUncertainCount> values_;
  std::vector<double> losses_;
};

/// By which factor the step is longer in each draw.
std::vector<double> step_factors(const StepResponse& response, const Draws& draws, int gpus);

/// The middle part `level` of the values; quantiles between two values on a straight line. Requires values.
Interval interval_of(std::vector<double> values, double level = 0.9);

/// Of the step that is so many times as long in each draw. Contains `step_s`.
Interval step_interval(double step_s, std::vector<double> factors);

}  // namespace foretrain
