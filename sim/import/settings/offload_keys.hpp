// Declares the reading of offload inside other tools' files.
#pragma once

#include <string>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads offload_optimizer and offload_param of DeepSpeed's configuration and of accelerate's, with older
/// flags. Requires that the stage has been read.
void read_deepspeed_offload(SettingsReading& reading);

/// Reads FSDP's offload at `path`: a flag, or a call of CPUOffload or CPUOffloadPolicy.
void read_fsdp_offload(SettingsReading& reading, const std::string& path);

}  // namespace foretrain
