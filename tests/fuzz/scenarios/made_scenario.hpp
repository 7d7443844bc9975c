// Whole scenarios by a grammar: a cluster, a network and how it is trained, as the files that a person would
// write. Each is valid by construction, but for settings beside the strategy's, of which those that do not go
// together are left out.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "tests/fuzz/scenarios/choices.hpp"

namespace foretrain::test {

/// In which units quantities are written: "12.3 GBps", or "98.4 Gbps".
enum class Units { usual, others };

struct MadeScenario {
  std::string cluster, model, scenario;  ///< texts of files; the scenario's refers to the others as "made"
  std::vector<std::string> settings;     ///< "key=value", which may not go together
};

MadeScenario make_scenario_texts(Choices& choices, Units units);

/// Reads all three. Throws InputError where the texts are not valid, which is a fault of the grammar or of a
/// reader.
Scenario read_made(const MadeScenario& made);

}  // namespace foretrain::test
