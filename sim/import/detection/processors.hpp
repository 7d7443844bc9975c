// CPUs, NUMA nodes and memory of a machine, from Linux's files.
#pragma once

#include <map>

#include "sim/import/detection/file_tree.hpp"
#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Adds a socket for each NUMA node that has CPUs, which is what NCCL and PyTorch bind to, and says cores,
/// sockets, memory and model. Returns the part that stands for each NUMA node, by Linux's number.
std::map<int, int> add_processors(Machine& machine, const FileTree& tree);

}  // namespace foretrain
