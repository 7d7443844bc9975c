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

/// Activations in host memory, recomputed blocks, and weights that are fp32 beside packed ones. Weights are
/// read before.
void read_memory_switches(SettingsReading& reading, const std::string& above);
/// GaLore as transformers' optim_args and LLaMA-Factory ask for it. The optimizer is read before.
void read_galore(SettingsReading& reading, const std::string& above);
/// A call of PEFT's prepare_model_for_kbit_training in a program (peft/utils/other.py): weights that are not
/// packed become fp32, and blocks are recomputed unless it says otherwise.
void read_kbit_preparation(SettingsReading& reading);

/// PEFT's adapter_config.json.
bool is_adapter_config(const YamlNode& tree);
void read_adapter_config(SettingsReading& reading);

}  // namespace foretrain
