// Finding the scenario that a command line names: a scenario file, one of the catalog, or a job script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/app/opened_job.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The text of a scenario that the command line names, and the job script that it came from if there is one.
struct NamedScenario {
  SourceText source;             ///< TOML; of a job script what it became
  std::optional<OpenedJob> job;  ///< of a job script
};

/// A file when there is one of that name, else an entry of the scenario catalog. A file that is a job script
/// by what stands in it becomes a scenario; `overrides` may name its cluster and must name its model. Throws
/// InputError with near names, or with the script's mistakes.
NamedScenario open_scenario(const std::string& name, const ScenarioOverrides& overrides);

/// What `foretrain record` wrote: no scenario has a table of that name.
bool is_program_file(std::string_view text);

/// The text of the file, or of the catalog's entry.
SourceText open_scenario_text(const std::string& name);

}  // namespace foretrain
