// Compares the devices of a machine with the data sheet of their product.
#pragma once

#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Returns warnings about PCIe lanes and generation, NVLinks and memory of the GPUs that are below those of
/// the catalog's `gpu`.
/// GPUs with the same deviation share one warning. Call it only where the product is known and not assumed.
std::vector<MachineWarning> warnings_against(const Machine& machine, const Gpu& gpu);

}  // namespace foretrain
