// Layouts of a search as lines of a prediction: what predict would say of each, with its interval.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/analysis/causes/step_causes.hpp"
#include "sim/analysis/search/layouts.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

/// One scenario's cluster and device model, and any layouts on it. The scenario must outlive it.
class LayoutPoints {
 public:
  LayoutPoints(const Scenario& scenario, int most_gpus);

  /// As predict prints it with these degrees, all intervals set. Speedup counts from the fewest GPUs that can
  /// run the layout.
  PredictionPoint at(const LargeModelRun& job);
  /// By which factor the step is longer in each draw of the uncertain inputs.
  StepResponse response_of(const LargeModelRun& job);
  /// What its step takes without each of its causes.
  StepCauses causes_of(const LargeModelRun& job) const;
  const Draws& draws() const { return draws_; }

 private:
  const Scenario& scenario_;
  PointPredictor base_;
  Draws draws_;
};

/// Sets the intervals of the rows that are shown, of each step and of it over the first's.
void add_intervals(const Scenario& scenario, const std::vector<std::size_t>& rows, LayoutSearch& search);

/// The first `top` layouts, and those on the front behind them.
std::vector<std::size_t> shown_rows(const LayoutSearch& search, std::size_t top);

}  // namespace foretrain
