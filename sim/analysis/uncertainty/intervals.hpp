// The intervals of one scenario's answers, from the table of spreads.
#pragma once

#include <map>
#include <optional>

#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

/// Computes the intervals for points of one predictor, which must outlive it and have its device model set.
/// Responses are kept by number of GPUs. Not thread-safe, because it simulates with the predictor.
class Intervals {
 public:
  /// Makes intervals for an uncalibrated model.
  explicit Intervals(PointPredictor& points);
  /// Makes intervals for a model that is calibrated to a measured step on `anchor_gpus`.
  Intervals(PointPredictor& points, int anchor_gpus);

  /// Returns the part of each input in the interval of the step on `gpus`.
  const StepResponse& response(int gpus);
  /// Returns the case of that step by itself, without what its GPUs exchange.
  SpreadCase step_case_on(int gpus);
  /// Sets every interval of the point, by simulated responses. Requires its times and speedup.
  void add_to(PredictionPoint& point);
  /// Returns the spread of the crossover over all numbers of GPUs that have been simulated. Numbers without a
  /// simulated response use derivatives. Requires at least one simulated number.
  CrossoverSpread crossover_spread();
  /// Returns the sensitivity of the run's total time, or of a step where the data set's size is unknown.
  Sensitivity sensitivity(const PredictionPoint& point);
  /// Returns, for a wide interval, the input that makes most of it and the nearest measurement that narrows
  /// it; empty for others.
  std::string to_narrow(const PredictionPoint& point);

 private:
  /// Simulated responses move each input; linear ones use the derivatives of the critical path.
  enum class Detail : std::uint8_t { simulated, linear };
  /// Returns the sensitivity of the point's total.
  Sensitivity sensitivity_of_total(const PredictionPoint& point);
  /// Returns the best response that costs no simulation.
  StepResponse cheap_response(int gpus);
  /// Returns the moves of the step for unit moves of each input.
  StepResponse moves(int gpus, Detail detail);
  /// Returns the case of the ratio of two steps.
  SpreadCase ratio_to(int reference_gpus, int gpus, Detail detail);
  /// Returns the response of one number of GPUs.
  StepResponse response_on(int gpus, Detail detail);
  /// Limits a response by what the cluster's calibration knows of the job.
  StepResponse as_calibrated(StepResponse response, int gpus, Detail detail);
  /// Limits each input to the part of one that is known to this spread.
  StepResponse at_most(StepResponse response, const Spreads& known, int gpus, Detail detail);
  /// Returns the response that would remain after a measurement.
  StepResponse narrowed(int gpus, Narrowing measurement);

  PointPredictor& points_;
  std::optional<int> anchor_gpus_;
  Draws draws_;
  /// Simulated responses by number of GPUs.
  std::map<int, StepResponse> moves_, responses_;
};

}  // namespace foretrain
