// Predictions for one group of measured rows: one model, cluster, strategy, precision and batch per GPU on
// several numbers of GPUs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// Rows that share all that a step depends on besides the number of GPUs, in ascending order of that number.
using TrainingRows = std::vector<const Measurement*>;

/// Returns the scenario of such rows; `settings` as for --set follow the rows' own.
ScenarioOverrides overrides_for(const TrainingRows& rows, const std::vector<std::string>& settings);

/// Predicts the rows of a group. Each number of GPUs is simulated once, however many rows have it. Not
/// thread-safe.
class GroupValidator {
 public:
  /// Calibrates to the first row if options.anchor is set. The arguments must outlive the object. Throws
  /// InputError where the job cannot run.
  GroupValidator(const TrainingRows& rows, const Scenario& scenario, const ValidationOptions& options);

  /// Returns the points of rows that equal the constructor's in everything but series, lines and measured
  /// values; the anchor's value must be equal, too. The anchor itself has no point.
  std::vector<ValidatedPoint> points(const TrainingRows& rows);
  /// Returns the reason why no device model reaches the anchor; empty when one does.
  const std::string& why_unreached() const { return why_unreached_; }
  /// Returns the failure for these rows. Requires that no model reaches the anchor, and rows as points()
  /// does.
  UnreachedAnchor unreached(const TrainingRows& rows) const;

 private:
  /// Calibrates the device model, or for rates in unknown units the unit.
  void use_anchor(const Measurement& anchor);
  /// Returns the description of a row for reports.
  ValidatedRow run_of(const Measurement& m) const;
  /// Returns the simulated step, made at the first use.
  const SimulatedStep& step(int gpus);
  /// Returns the step's response to unit moves of its inputs, simulated with the calibrated model.
  const StepResponse& moves(int gpus);
  /// Returns the job that intervals of ratios refer to: the anchor's, or one GPU.
  Reference reference();
  /// Returns the case of the step over the reference's step.
  SpreadCase ratio(int gpus);
  /// Returns the case that a row's interval is a function of.
  SpreadCase spread_case(int gpus);
  /// Returns the interval of the step.
  Interval interval(int gpus);
  /// Returns one row with its prediction.
  ValidatedPoint point(const Measurement& m);
  /// Returns further facts about a row for those who learn from it.
  RowEvidence evidence(const Measurement& m);

  const ValidationOptions& options_;
  StepSimulator simulator_;
  DeviceModel device_;
  int reference_gpus_;
  /// Unit of the file's rates relative to samples per second, from the anchor's row.
  double unit_ = 1;
  std::string why_unreached_;
  std::map<int, SimulatedStep> steps_;
  std::map<int, StepResponse> moves_;
};

}  // namespace foretrain
