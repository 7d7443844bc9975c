// What a machine has less of than its product.
#pragma once

#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Lanes and generation of PCIe, NVLinks and memory of the GPUs against the catalog's `gpu`; what all GPUs
/// share is said once. To be asked only where the product is known and not assumed.
std::vector<MachineWarning> warnings_against(const Machine& machine, const Gpu& gpu);

}  // namespace foretrain
