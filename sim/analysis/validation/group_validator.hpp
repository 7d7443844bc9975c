// The predictions of one group of measured rows: one model, cluster, strategy, precision and batch per GPU on
// several numbers of GPUs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// Rows that share what a step depends on besides the number of GPUs, by that number.
using TrainingRows = std::vector<const Measurement*>;

/// The scenario of rows that share all but the number of GPUs; `settings` as for --set, behind their own.
ScenarioOverrides overrides_for(const TrainingRows& rows, const std::vector<std::string>& settings);

/// Predicts the rows of a group. A number of GPUs is simulated once, however many rows have it.
class GroupValidator {
 public:
  /// The arguments outlive it. Throws InputError where the job cannot run.
  GroupValidator(const TrainingRows& rows, const Scenario& scenario, const ValidationOptions& options);

  /// Of rows that equal the constructor's but for their series, lines and measured values; the anchor's value
  /// is equal too.
  std::vector<ValidatedPoint> points(const TrainingRows& rows);
  /// Why no device model reaches the anchor; empty when one does.
  const std::string& why_unreached() const { return why_unreached_; }
  /// Requires that none does, and rows as points() does.
  UnreachedAnchor unreached(const TrainingRows& rows) const;

 private:
  void use_anchor(const Measurement& anchor);
  ValidatedRow run_of(const Measurement& m) const;
  const SimulatedStep& step(int gpus);
  /// Unit moves of the prediction itself, whatever the anchor made up for.
  const StepResponse& moves(int gpus);
  Reference reference();
  SpreadCase ratio(int gpus);
  SpreadCase spread_case(int gpus);
  Interval interval(int gpus);
  ValidatedPoint point(const Measurement& m);
  RowEvidence evidence(const Measurement& m);

  const ValidationOptions& options_;
  StepSimulator simulator_;
  DeviceModel device_;
  int reference_gpus_;
  double unit_ = 1;  ///< of the file's rates, by the anchor's row
  std::string why_unreached_;
  std::map<int, SimulatedStep> steps_;
  std::map<int, StepResponse> moves_;
};

}  // namespace foretrain
