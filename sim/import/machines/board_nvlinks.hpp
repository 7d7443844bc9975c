// NVLinks as boards with a GPU have them, where no file tells.
#pragma once

#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// As the node template of the catalog with as many of these GPUs has them; else through NVSwitches beyond
/// four GPUs, and shared out over every pair up to four.
std::vector<MachineNvlinks> board_nvlinks(const Gpu& gpu, int gpus);

}  // namespace foretrain
