// Declares the reading of adapters, quantised weights and lengths of samples wherever they stand in settings.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads them below `above` ("LoraConfig." or ""). Requires that precision and strategy have been read.
void read_fine_tuning(SettingsReading& reading, const std::string& above);

/// Gives the frozen weights beside 16-bit adapters 16 bits, unless something else was said: LLaMA-Factory and
/// axolotl load them so.
void keep_frozen_weights_narrow(SettingsReading& reading);

/// Reads activations in host memory, recomputed blocks, and weights that are fp32 beside packed ones.
/// Requires that the weights have been read.
void read_memory_switches(SettingsReading& reading, const std::string& above);
/// Reads GaLore as transformers' optim_args and LLaMA-Factory ask for it. Requires that the optimizer has
/// been read.
void read_galore(SettingsReading& reading, const std::string& above);
/// Reads a call of PEFT's prepare_model_for_kbit_training in a program (peft/utils/other.py): weights that
/// are not packed become fp32, and blocks are recomputed unless the call says otherwise.
void read_kbit_preparation(SettingsReading& reading);

/// Recognises and reads PEFT's adapter_config.json.
bool is_adapter_config(const YamlNode& tree);
void read_adapter_config(SettingsReading& reading);

}  // namespace foretrain
