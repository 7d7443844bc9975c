// Reads GPUs and network adapters of a machine, and the bridges above them, from Linux's files.
#pragma once

#include <map>
#include <string>

#include "sim/import/detection/file_tree.hpp"
#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Adds all GPUs and adapters with the PCIe switches above them. Requires a machine that has its sockets and
/// no other parts.
/// `part_of_numa` is the result of add_processors(). `socket_of_bus` gives sockets, by PCI address, of
/// devices for which sysfs knows no NUMA node (-1). A device in neither hangs at the first socket.
/// Adds warnings about links with fewer lanes than both ends have, and about ports of known adapters that are
/// down. Does not throw.
void add_pci_bus(Machine& machine, const FileTree& tree, const std::map<int, int>& part_of_numa,
                 const std::map<std::string, int>& socket_of_bus);

/// Returns a PCI address as sysfs writes it, in lower case: "00000000:07:00.0" of NVML becomes
/// "0000:07:00.0".
/// The domain has four digits unless it needs more.
std::string sysfs_address(std::string_view address);

}  // namespace foretrain
