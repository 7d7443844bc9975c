// Infinity Fabric between AMD's GPUs where a file tells pairs without counts, and products by how they are
// joined.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// The AMD GPU of a node template of the catalog that has as many GPUs in the same pairs; else the one whose
/// boards or bridges come nearest.
std::string amd_gpu_joined_as(const std::vector<MachineNvlinks>& pairs, int gpus);

/// Files count AMD's links, the catalog halves of them: doubles what is told. A pair without a count gets
/// what the template with the same pairs has, or an even share of the GPU's links. Other makers' links stay.
void settle_amd_links(std::vector<MachineNvlinks>& links, const Gpu& gpu, int gpus);

}  // namespace foretrain
