// Short runs of a training that would narrow its prediction most.
#pragma once

#include <vector>

#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Returns runs of the same training on at most two nodes, those that leave least uncertainty first. The
/// uncertainty is that of the step on the scenario's largest listed number of GPUs, with `evidence` applied.
/// Empty for a calibrated scenario and for a question without a source.
std::vector<RunsToMake> runs_to_make(const StepSimulator& simulator, const AppliedEvidence& evidence,
                                     const EvidenceUse& use);

}  // namespace foretrain
