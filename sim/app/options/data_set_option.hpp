// --dataset: a data set of the catalog, or one that lies on the disk, as settings of a scenario.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Puts the settings before those that people gave, which therefore win, and says in `notes` what is an
/// estimate. Nothing for an empty name. Throws InputError for what is no data set.
void apply_data_set(const std::string& name, ScenarioOverrides& overrides);

}  // namespace foretrain
