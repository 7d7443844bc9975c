// Keys of FSDP inside other tools' files.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads accelerate's keys below `above` ("fsdp_config." or nothing), with "fsdp_" before each name or not;
/// chooses fsdp or fsdp2.
void read_fsdp_keys(SettingsReading& reading, const std::string& above);

}  // namespace foretrain
