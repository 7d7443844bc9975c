// The step from a field of residuals to the correction of one prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Remaining share of the uncertainty from which evidence is not applied; the prediction is then the
/// simulated one.
inline constexpr double kWorthApplying = 0.98;

/// Returns true if measured runs can correct the scenario; there are none of large models and of mixed nodes.
bool has_evidence(const Scenario& scenario);

/// Returns true if the estimate corrects the question. A collective is corrected only if a row of the
/// question's own source is among the neighbours.
bool is_worth_applying(const Estimate& estimate, const Observation& question);

/// Returns the architecture's name in evidence stores, such as "volta".
std::string_view name_of_architecture(Architecture architecture);

/// Returns the question about a step on one GPU.
Observation step_question(const Scenario& scenario, std::int64_t batch_per_gpu);
/// Returns the question about the ratio of the step on `gpus` to that on one.
Observation ratio_question(const Scenario& scenario, std::int64_t batch_per_gpu, int gpus, int nodes);

/// Returns one correction for the whole curve, from runs that resemble the training. Where its step is
/// measured (`is_anchored`), only the ratio is corrected. Large models and mixed nodes have no evidence.
AppliedEvidence evidence_for(const StepSimulator& simulator, const EvidenceUse& use, bool is_anchored);

/// Returns the interval of a step around the corrected one. A number of GPUs with runs of the very training
/// has the interval of the next run. All other numbers combine two parts, squares added.
///
/// The first part is the interval of one GPU's step, narrowed as the field knows that step better; where the
/// model is calibrated to runs, it is the interval of the next run. The second part is what more GPUs add,
/// narrowed as the field knows their ratio. `raw` and `one` are as the calibrated model simulates them; `one`
/// is the step on `calibrated_on`.
Interval narrowed(const AppliedEvidence& evidence, const RawPoint& raw, const RawPoint& one);

/// Returns the range of a speedup as runs of the very training know it; none on a number of GPUs without
/// them.
std::optional<Range> known_speedup(const AppliedEvidence& evidence, const PredictionPoint& point);

/// Returns "Measured on puhti: 96 to 101 ms on 1 GPU (16 runs, …); the prediction is calibrated to it." with
/// a line end; empty when no run of the very training is known.
std::string measured_line_of(const std::vector<MeasuredRuns>& measured);
/// Returns the same without its first word and its line end: "on puhti: …".
std::string measured_words(const std::vector<MeasuredRuns>& measured);

/// Sets the interval of the step and scales those of the epoch and of the run alike.
void with_step_interval(PredictionPoint& point, const Interval& interval);

}  // namespace foretrain
