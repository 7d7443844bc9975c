// Finds the scenario that a command line names: a scenario file, an entry of the catalog, or a job script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/app/opened_job.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The text of a scenario that the command line names, and the job script that it came from.
struct NamedScenario {
  /// TOML; for a job script, the scenario that was made of it.
  SourceText source;
  /// The job script; none for other files.
  std::optional<OpenedJob> job;
};

/// Opens a file of that name, or else an entry of the catalog. A job script, recognised by its content,
/// becomes a scenario; `overrides` may name its cluster and must name its model unless the script does.
/// Throws InputError with near names, or with the script's mistakes.
NamedScenario open_scenario(const std::string& name, const ScenarioOverrides& overrides);

/// Returns true for a file of `foretrain record`, which has a [program] table; no scenario has one.
bool is_program_file(std::string_view text);

/// Returns the text of the file or of the catalog's entry. Throws InputError when there is neither.
SourceText open_scenario_text(const std::string& name);

}  // namespace foretrain
