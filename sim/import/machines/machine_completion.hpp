// Devices that no file places but every node has, and the limits of what is described.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// GPUs that are only counted, or of which there are `gpus_per_node` by the user's word, are spread over the
/// sockets; nodes of a network have an adapter. Says what it assumed. Throws InputError where there is no GPU
/// or too much of anything.
void complete_devices(Machine& machine, int gpus_per_node, bool needs_network,
                      std::vector<std::string>& assumptions);

}  // namespace foretrain
