// The scenarios of a command line, opened: files and job scripts read, options and --set applied. All of them
// before anything runs.
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

/// What a job script says of the run's time.
struct JobTimeLimit {
  std::int64_t seconds = 0;
  int gpus = 1;       ///< that the job reserves
  std::string place;  ///< file and line, for the warning
};

/// A scenario that was read, with warnings and where it came from.
struct OpenedScenario {
  SourceText source;  ///< TOML, of a job script what it became; no text: the options alone are the scenario
  Scenario scenario;
  std::optional<JobTimeLimit> time_limit{};  ///< of a job script
};

/// Opens each of `names`; no name at all is a scenario from the options alone. The mistakes of all are thrown
/// at once as InputError, each once.
std::vector<OpenedScenario> open_scenarios(const std::vector<std::string>& names,
                                           const ScenarioOverrides& overrides, RequestedScaling scaling);

/// The same, each once for every strategy.
std::vector<ComparedScenarios> open_compared(const std::vector<std::string>& names,
                                             const ScenarioOverrides& overrides,
                                             const std::vector<std::string>& strategies);

/// Keys of [parallel] that the scenario or the command line gives.
std::vector<std::string> given_parallel_keys(const SourceText& source, const ScenarioOverrides& overrides);

/// What --scaling does to a scenario.
Scenario scaled(Scenario scenario, RequestedScaling scaling);

}  // namespace foretrain
