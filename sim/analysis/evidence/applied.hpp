// From a field of residuals to the correction of one prediction.
#pragma once

#include <cstdint>
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

/// One correction for the whole curve. Steps of an anchored training are measured already, so that only the
/// ratio counts; large models and mixed nodes have no evidence.
AppliedEvidence evidence_for(const StepSimulator& simulator, const EvidenceUse& use);

/// The interval of a step around the corrected one: that of one GPU's step as much narrower as the field
/// knows it better, and what is added by more GPUs likewise. `raw` and `one` as simulated.
Interval narrowed(const AppliedEvidence& evidence, const RawPoint& raw, const RawPoint& one);

/// Sets the interval of the step, and with it those of the epoch and of the run, whose steps scatter alike.
void with_step_interval(PredictionPoint& point, const Interval& interval);

}  // namespace foretrain
