// Layouts of a search as rows of a prediction: the figures that `predict` would print, with intervals.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/analysis/causes/step_causes.hpp"
#include "sim/analysis/search/layouts.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

/// Predicts any layouts on one scenario's cluster and device model. The scenario must outlive it. Not
/// thread-safe.
class LayoutPoints {
 public:
  LayoutPoints(const Scenario& scenario, int most_gpus);

  /// Returns the point that `predict` prints for these degrees, with all intervals. Speedup counts from the
  /// fewest GPUs that can run the layout.
  PredictionPoint at(const LargeModelRun& job);
  /// Returns how the layout's step responds to each uncertain input.
  StepResponse response_of(const LargeModelRun& job);
  /// Returns the times of its step without each of its causes.
  StepCauses causes_of(const LargeModelRun& job) const;
  const Draws& draws() const { return draws_; }

 private:
  const Scenario& scenario_;
  PointPredictor base_;
  Draws draws_;
};

/// Sets, for the rows that are shown, the interval of the step and of its ratio to the first layout's step.
void add_intervals(const Scenario& scenario, const std::vector<std::size_t>& rows, LayoutSearch& search);

/// Returns the indices of the first `top` layouts and of those behind them that are on the Pareto front.
std::vector<std::size_t> shown_rows(const LayoutSearch& search, std::size_t top);

}  // namespace foretrain
