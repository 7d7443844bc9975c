// Declares the reading of Hugging Face's TrainingArguments wherever they stand.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads them below `above` ("TrainingArguments." or "").
void read_training_arguments(SettingsReading& reading, const std::string& above);

}  // namespace foretrain
