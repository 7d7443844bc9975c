// Chooses the GPU of the catalog for a node: by what the node's own file says, else by how the GPUs are
// joined, else by the network.
#pragma once

#include "sim/import/machines/machine.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

/// Returns the GPU. `traits` are the facts of the machine's first GPU. A node that says it has no GPU gets
/// "cpu-core", on which it trains.
/// Throws InputError as recognised_gpu() does.
RecognisedGpu gpu_of_node(const Machine& machine, GpuTraits traits);

}  // namespace foretrain
