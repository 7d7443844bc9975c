// CPUs, NUMA nodes and memory of a machine, from Linux's files.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "sim/import/detection/file_tree.hpp"
#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// By what the processor says of itself: "GenuineIntel" and its model's number, −1 where that is not said.
/// Nothing for other makers.
std::optional<HostFamily> x86_family(std::string_view vendor, int model);

/// Adds a socket for each NUMA node that has CPUs, which is what NCCL and PyTorch bind to, and says cores,
/// sockets, memory and model. Returns the part that stands for each NUMA node, by Linux's number.
std::map<int, int> add_processors(Machine& machine, const FileTree& tree);

}  // namespace foretrain
