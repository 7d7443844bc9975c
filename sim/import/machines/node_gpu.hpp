// Which GPU of the catalog a node has: by what its own file tells, else by how the GPUs are joined, else by
// the network.
#pragma once

#include "sim/import/machines/machine.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

/// `traits` is what the first GPU of the machine tells. A node that says it has no GPU gets a core.
RecognisedGpu gpu_of_node(const Machine& machine, GpuTraits traits);

}  // namespace foretrain
