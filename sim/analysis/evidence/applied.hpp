// From a field of residuals to the correction of one prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Evidence that narrows less than this is not applied at all: the prediction is then the simulated one.
inline constexpr double kWorthApplying = 0.98;

/// Large models and mixed nodes have none.
bool has_evidence(const Scenario& scenario);

/// Whether the estimate corrects what was asked; of a collective also only where a row of whoever asks is
/// behind it.
bool is_worth_applying(const Estimate& estimate, const Observation& question);

/// "volta".
std::string_view name_of_architecture(Architecture architecture);

/// A step on one GPU, as a question to a field.
Observation step_question(const Scenario& scenario, std::int64_t batch_per_gpu);
/// The ratio of the step on so many GPUs to that on one.
Observation ratio_question(const Scenario& scenario, std::int64_t batch_per_gpu, int gpus, int nodes);

/// One correction for the whole curve, by what is like the training. Where its step is measured
/// (`is_anchored`) only the ratio counts; large models and mixed nodes have no evidence.
AppliedEvidence evidence_for(const StepSimulator& simulator, const EvidenceUse& use, bool is_anchored);

/// The interval of a step around the corrected one. Of a number of GPUs with runs of the very training it is
/// that of the next run. Else it is that of one GPU's step as much narrower as the field knows it better, or
/// of the step that the model is calibrated to that of the next run, and what is added by more GPUs as much
/// narrower as the field knows their ratio. `raw` and `one` as the calibrated model simulates them; `one` is
/// of `calibrated_on`.
Interval narrowed(const AppliedEvidence& evidence, const RawPoint& raw, const RawPoint& one);

/// The range of a speedup as runs of the very training know it; none on a number of GPUs without them.
std::optional<Range> known_speedup(const AppliedEvidence& evidence, const PredictionPoint& point);

/// "Measured on puhti: 96 to 101 ms on 1 GPU (16 runs, …); the prediction is calibrated to it."; empty when
/// no run of the very training is known.
std::string measured_line_of(const std::vector<MeasuredRuns>& measured);
/// The same without its first word and its line end: "on puhti: …".
std::string measured_words(const std::vector<MeasuredRuns>& measured);

/// Sets the interval of the step, and with it those of the epoch and of the run, whose steps scatter alike.
void with_step_interval(PredictionPoint& point, const Interval& interval);

}  // namespace foretrain
