// Intervals of one scenario's answers: how each number of GPUs responds to the inputs, drawn together.
#pragma once

#include <map>
#include <optional>

#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

/// The predictor must outlive it and have its device model set.
class Intervals {
 public:
  /// Without an anchor, or of a model scaled at `reference` in these parts.
  explicit Intervals(PointPredictor& points);
  Intervals(PointPredictor& points, const AnchoredParts& anchored, int anchor_gpus);

  /// Simulated, against the anchor where there is one.
  const StepResponse& response(int gpus);
  /// Sets every interval of the point, by simulated responses. Requires its times and speedup.
  void add_to(PredictionPoint& point);
  /// Over all numbers of GPUs that have been simulated, by derivatives where the response was not simulated.
  CrossoverSpread crossover_spread();
  /// Of the run's total time; of a step where the data set's size is unknown.
  Sensitivity sensitivity(const PredictionPoint& point);
  /// Of a wide one, what makes most of it and the nearest measurement that narrows that; empty for others.
  std::string to_narrow(const PredictionPoint& point);

 private:
  Sensitivity sensitivity_of_total(const PredictionPoint& point);
  StepResponse cheap_response(int gpus);
  /// With what the cluster's calibration knows of that job.
  Spreads spreads_at(int gpus) const;
  StepResponse against_anchor(const StepResponse& here);
  const std::vector<double>& factors_of_one_gpu();
  Interval total_interval(const PredictionPoint& point, const std::vector<double>& factors,
                          double startup_spread) const;
  StepResponse narrowed(int gpus, Narrowing measurement);

  PointPredictor& points_;
  Spreads spreads_;
  Reference reference_;
  bool is_anchored_ = false;
  std::optional<StepResponse> at_anchor_;  ///< simulated once it is asked for
  Draws draws_;
  std::map<int, StepResponse> responses_;  ///< simulated ones, against the anchor
  std::vector<double> of_one_gpu_;         ///< by draw, once asked for
};

}  // namespace foretrain
