// The settings that a search varies: names with their usual values, and axes as a sweep writes them.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Returns the text of a sweep for options of the command line. `names`: settings whose usual values are
/// meant (a short name of [study], a key of a scenario, or the end of one, as in "bucket_cap"). `axes`: lines
/// of [axes], as in `batch = [64, 96]`, which win over a name of the same setting. `conditions`: those of a
/// sweep's `where`. `own`: the scenario, on which usual values depend. Throws InputError with all names that
/// are unknown or ambiguous, and those without usual values.
SourceText tuned_sweep(const std::vector<std::string>& names, const std::vector<std::string>& axes,
                       const std::vector<std::string>& conditions, const Scenario& own);

/// Returns the names that have usual values, for the help.
std::vector<std::string> names_with_usual_values();

}  // namespace foretrain
