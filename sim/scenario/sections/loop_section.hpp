// The table [loop]: the script around the step.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Returns the declared keys of [loop].
const Keys<TrainingLoop>& loop_keys();
/// Reads [loop]. Requires that the framework is read, which decides defaults.
void read_loop(TableReader& loop, Scenario& scenario);

}  // namespace foretrain
