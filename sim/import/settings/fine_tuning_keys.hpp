// Adapters, quantised weights and lengths of samples wherever they stand in settings.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads them below `above` ("LoraConfig." or nothing). Precision and strategy are read before.
void read_fine_tuning(SettingsReading& reading, const std::string& above);

/// Beside adapters in 16 bits the frozen weights have 16 bits, too, unless something else was said:
/// LLaMA-Factory and axolotl load them so.
void keep_frozen_weights_narrow(SettingsReading& reading);

/// PEFT's adapter_config.json.
bool is_adapter_config(const YamlNode& tree);
void read_adapter_config(SettingsReading& reading);

}  // namespace foretrain
