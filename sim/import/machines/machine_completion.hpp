// Adds devices that no file places but every node has, and checks the limits of a node.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Places GPUs that are only counted, or `gpus_per_node` of them if no file counts any, evenly over the
/// sockets.
/// If `needs_network` is set, nodes without an adapter get one, or as many as hosts of the network have.
/// Every assumption is added to `assumptions`.
/// Throws InputError when there is no GPU, and when there are more devices of a kind than a node may have.
void complete_devices(Machine& machine, int gpus_per_node, bool needs_network,
                      std::vector<std::string>& assumptions);

}  // namespace foretrain
