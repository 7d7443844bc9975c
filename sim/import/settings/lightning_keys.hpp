// Declares the reading of the arguments of Lightning's Trainer wherever they stand.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads them below `above` ("trainer." or "").
void read_trainer_keys(SettingsReading& reading, const std::string& above);

}  // namespace foretrain
