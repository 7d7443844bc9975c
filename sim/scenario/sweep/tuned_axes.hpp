// What a search varies: names of settings with their usual values, and axes as a sweep writes them.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A sweep's file of what the command line says. `names`: settings whose usual values are meant (a short name
/// of [study], a key of a scenario, or the end of one, as in "bucket_cap"); `axes`: lines of [axes], as in
/// `batch = [64, 96]`, which win over a name of the same setting; `conditions`: as of a sweep's `where`.
/// `own` says what is usual. Throws InputError for all names that are none and for those without usual
/// values.
SourceText tuned_sweep(const std::vector<std::string>& names, const std::vector<std::string>& axes,
                       const std::vector<std::string>& conditions, const Scenario& own);

/// Names that have usual values, for the help.
std::vector<std::string> names_with_usual_values();

}  // namespace foretrain
