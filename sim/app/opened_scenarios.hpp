// Opens the scenarios that a command line names: reads files and job scripts, and applies options and --set.
// All scenarios are opened before anything is simulated, so that mistakes are reported at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/search/compare.hpp"
#include "sim/app/commands.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The time limit that a job script requests.
struct JobTimeLimit {
  std::int64_t seconds = 0;
  /// Number of GPUs that the job reserves.
  int gpus = 1;
  /// File and line of the request, for a warning.
  std::string place;
};

/// A scenario that was read, with the text that it came from.
struct OpenedScenario {
  /// TOML; for a job script, the scenario made of it. An empty text: the options alone are the scenario.
  SourceText source;
  Scenario scenario;
  /// Time limit of a job script; none for other files.
  std::optional<JobTimeLimit> time_limit{};
};

/// Opens each of `names`; without names the options alone make one scenario. Throws the mistakes of all of
/// them in one InputError, each mistake once.
std::vector<OpenedScenario> open_scenarios(const std::vector<std::string>& names,
                                           const ScenarioOverrides& overrides, RequestedScaling scaling);

/// Does the same, and opens each scenario once for every strategy.
std::vector<ComparedScenarios> open_compared(const std::vector<std::string>& names,
                                             const ScenarioOverrides& overrides,
                                             const std::vector<std::string>& strategies);

/// Returns the keys of [parallel] that the scenario or the command line states.
std::vector<std::string> given_parallel_keys(const SourceText& source, const ScenarioOverrides& overrides);

/// Returns the scenario with the scaling that --scaling asks for.
Scenario scaled(Scenario scenario, RequestedScaling scaling);

}  // namespace foretrain
