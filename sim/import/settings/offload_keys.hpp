// Keys of offload inside other tools' files.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// offload_optimizer and offload_param of DeepSpeed's configuration and of accelerate's, with older flags.
/// The stage has been read before.
void read_deepspeed_offload(SettingsReading& reading);

/// FSDP's offload at `path`: a flag, or a call of CPUOffload or CPUOffloadPolicy.
void read_fsdp_offload(SettingsReading& reading, const std::string& path);

}  // namespace foretrain
