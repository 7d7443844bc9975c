// The table [loop]: the script around the step.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

const Keys<TrainingLoop>& loop_keys();
/// Needs the framework to be read, which decides defaults.
void read_loop(TableReader& loop, Scenario& scenario);

}  // namespace foretrain
