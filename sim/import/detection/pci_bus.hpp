// GPUs and network adapters of a machine and what they hang at, from Linux's files.
#pragma once

#include <map>
#include <string>

#include "sim/import/detection/file_tree.hpp"
#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Requires that the machine has its sockets and nothing else; `part_of_numa` is what add_processors() gave.
/// `socket_of_bus` has sockets of devices that sysfs puts nowhere (numa_node −1), by PCI address; what is in
/// neither hangs at the first. Doubts: lanes that were not trained, ports of known adapters that are down.
void add_pci_bus(Machine& machine, const FileTree& tree, const std::map<int, int>& part_of_numa,
                 const std::map<std::string, int>& socket_of_bus);

/// "00000000:07:00.0", as NVML writes it, as sysfs does: four digits of the domain unless it has more.
std::string sysfs_address(std::string_view address);

}  // namespace foretrain
