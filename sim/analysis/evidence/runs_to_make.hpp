// Which short runs of a training would make its prediction surest.
#pragma once

#include <vector>

#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Of the step on the scenario's largest listed number of GPUs, by `evidence` as it is applied: runs of the
/// same training that nobody needs more than two nodes for, those that leave least first. None of an anchored
/// training, or where nobody asks.
std::vector<RunsToMake> runs_to_make(const StepSimulator& simulator, const AppliedEvidence& evidence,
                                     const EvidenceUse& use);

}  // namespace foretrain
