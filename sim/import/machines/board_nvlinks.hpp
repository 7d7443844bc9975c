// Returns NVLinks as boards with a GPU usually have them, where no file lists them.
#pragma once

#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Returns the NVLinks of the node template that has as many of these GPUs.
/// Without a template, up to four GPUs share their links evenly over every pair, and more GPUs are linked
/// through NVSwitches (except AMD's).
std::vector<MachineNvlinks> board_nvlinks(const Gpu& gpu, int gpus);

}  // namespace foretrain
