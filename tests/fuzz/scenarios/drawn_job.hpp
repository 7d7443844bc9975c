// Random jobs for laws of accounts: the scenarios of the fuzzer's grammar with batches, data sets and
// samplers that do not divide.
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/scenario.hpp"
#include "tests/fuzz/scenarios/made_scenario.hpp"

namespace foretrain::test {

/// The texts of job `number`, the same in every run and with every compiler. Half share a global batch that
/// few numbers of GPUs divide, a sixth do not say how many samples the data set has, some fit nowhere.
MadeScenario drawn_job(unsigned number);

/// Reads a job; nothing when its settings do not go together.
std::optional<Scenario> read_drawn(const MadeScenario& made);

}  // namespace foretrain::test
