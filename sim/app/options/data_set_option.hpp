// The option --dataset: a data set of the catalog, or one on this disk, as settings of a scenario.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Puts the data set's settings before those that the user gave, which therefore win. `notes` receives a
/// sentence for each estimated value. An empty name does nothing. Throws InputError when the name is no data
/// set.
void apply_data_set(const std::string& name, ScenarioOverrides& overrides);

}  // namespace foretrain
