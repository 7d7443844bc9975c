// Intervals of one scenario's answers: what the table of spreads says of each number of GPUs.
#pragma once

#include <map>
#include <optional>

#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

/// The predictor must outlive it and have its device model set.
class Intervals {
 public:
  explicit Intervals(PointPredictor& points);
  /// Of a model that is scaled to a measured step on `anchor_gpus`.
  Intervals(PointPredictor& points, int anchor_gpus);

  /// What each input adds to the interval of the step on so many GPUs.
  const StepResponse& response(int gpus);
  /// The case of such a step by itself, without what its GPUs exchange.
  SpreadCase step_case_on(int gpus);
  /// Sets every interval of the point, by simulated responses. Requires its times and speedup.
  void add_to(PredictionPoint& point);
  /// Over all numbers of GPUs that have been simulated, by derivatives where the response was not simulated.
  CrossoverSpread crossover_spread();
  /// Of the run's total time; of a step where the data set's size is unknown.
  Sensitivity sensitivity(const PredictionPoint& point);
  /// Of a wide one, what makes most of it and the nearest measurement that narrows that; empty for others.
  std::string to_narrow(const PredictionPoint& point);

 private:
  enum class Detail : std::uint8_t { simulated, linear };
  Sensitivity sensitivity_of_total(const PredictionPoint& point);
  StepResponse cheap_response(int gpus);
  /// Unit moves.
  StepResponse moves(int gpus, Detail detail);
  SpreadCase ratio_to(int reference_gpus, int gpus, Detail detail);
  StepResponse response_on(int gpus, Detail detail);
  /// By what the cluster's calibration knows of the job.
  StepResponse as_calibrated(StepResponse response, int gpus, Detail detail);
  /// No input adds more than one that is known to this spread.
  StepResponse at_most(StepResponse response, const Spreads& known, int gpus, Detail detail);
  StepResponse narrowed(int gpus, Narrowing measurement);

  PointPredictor& points_;
  std::optional<int> anchor_gpus_;
  Draws draws_;
  std::map<int, StepResponse> moves_, responses_;  ///< simulated ones
};

}  // namespace foretrain
