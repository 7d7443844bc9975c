// Counts Infinity Fabric links between AMD's GPUs where a file lists pairs without counts, and finds the
// product by how its GPUs are joined.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Returns the AMD GPU of the node template that has as many GPUs linked in the same pairs.
/// Without such a template, the number of neighbours decides which boards or bridges come nearest.
std::string amd_gpu_joined_as(const std::vector<MachineNvlinks>& pairs, int gpus);

/// Sets the number of links of every pair; other makers' links stay unchanged. Files count AMD's links and
/// the catalog counts halves of them, so given counts are doubled.
/// A pair without a count gets what the template with the same pairs has, or an even share of the GPU's
/// links.
void settle_amd_links(std::vector<MachineNvlinks>& links, const Gpu& gpu, int gpus);

}  // namespace foretrain
