// Dry run: the real run executes on a clock that only its points advance, and prints what it would do.
#pragma once

#include <string>
#include <vector>

#include "calibrate/micro/plan/run.hpp"

namespace foretrain::micro {

/// Each point in its order with the seconds it may take, then one line for each family and for all. `runs`
/// need no Measure.
std::string dry_run_text(std::vector<FamilyRun> runs, double budget_s);

}  // namespace foretrain::micro
