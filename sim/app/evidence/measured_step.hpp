// A step that a user measured, as a row of their store: the value comes in as the scenario's [measured].
#pragma once

#include <string>

#include "sim/app/opened_scenarios.hpp"
#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/observation.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The measured step of a scenario with [measured] beside what is simulated without it; run, source and
/// version are left to the caller. Throws InputError where such a training has no evidence, or the value is
/// off by a factor that only a unit explains.
Observation measured_step_row(Scenario scenario);

/// What another version needs to predict a row of one's own again, on the first of the asked numbers of GPUs.
/// A scenario that names files has its folder, else nothing tells where they lie.
JobInput own_input(const OpenedScenario& opened, const ScenarioOverrides& overrides);

/// "Kept in own.csv: resnet50 batch 32 on 4 GPUs of puhti, 119 ms a step where 106 ms are predicted."
std::string kept_sentence(const std::string& store, const Observation& row);

}  // namespace foretrain
