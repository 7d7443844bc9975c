// A step that a user measured, as a row of a store. The value arrives as [measured] of a scenario.
#pragma once

#include <string>

#include "sim/app/opened_scenarios.hpp"
#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/observation.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Returns the measured step of a scenario with [measured], and the step that is simulated without it. The
/// caller fills in run, source and version. Throws InputError when trainings of this kind have no evidence,
/// or when the value is so far from the prediction that only a wrong unit explains it.
Observation measured_step_row(Scenario scenario);

/// Returns what another version of foretrain needs to predict a user's row again: the scenario as text, for
/// the first number of GPUs in `overrides`. A scenario that names files keeps its folder, so that they can be
/// found.
JobInput own_input(const OpenedScenario& opened, const ScenarioOverrides& overrides);

/// Returns the sentence that confirms a row: "Kept in own.csv: resnet50 batch 32 on 4 GPUs of puhti, 119 ms a
/// step where 106 ms are predicted." A warning follows when the two differ much.
std::string kept_sentence(const std::string& store, const Observation& row);

}  // namespace foretrain
