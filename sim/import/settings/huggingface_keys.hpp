// TrainingArguments of Hugging Face wherever they stand.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads them below `above` ("TrainingArguments." or nothing).
void read_training_arguments(SettingsReading& reading, const std::string& above);

}  // namespace foretrain
