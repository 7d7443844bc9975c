// Reads CPUs, NUMA nodes and memory of a machine from Linux's files.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "sim/import/detection/file_tree.hpp"
#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Returns the family of an x86 processor by its vendor, such as "GenuineIntel", and its model number.
/// A model of -1 is unknown; Intel's is then taken for Skylake. No value for other vendors.
std::optional<HostFamily> x86_family(std::string_view vendor, int model);

/// Adds a socket for each NUMA node that has CPUs, because NCCL and PyTorch bind to NUMA nodes, not to
/// packages.
/// Sets cores, sockets, memory, CPU model and family. Returns the index of the part for each NUMA node, by
/// Linux's number. At least one part is added.
std::map<int, int> add_processors(Machine& machine, const FileTree& tree);

}  // namespace foretrain
