// Finds the ports of a machine's network adapters, InfiniBand and Ethernet, with rate and state.
#pragma once

#include <string>
#include <vector>

#include "sim/import/detection/file_tree.hpp"

namespace foretrain {

/// A network port as the kernel shows it.
struct NetworkPort {
  /// Kernel's name, such as "mlx5_0" or "eth0".
  std::string name;
  /// Folder of its device, as FileTree::real_path() returns it.
  std::string device;
  /// Rate in Gb/s (10^9 bit/s); 0 when the kernel gives none.
  double gbps = 0;
  /// Kind of the port, and whether it is known to be down. A port without a state counts as up.
  bool is_rdma = false, is_down = false;
  /// File that holds the state, for messages.
  std::string state_file;
};

/// Returns all ports that belong to a device, first RDMA ports, then Ethernet ones, each in the order of
/// names.
/// A port that serves both stands once, by its RDMA name, which is the one that NCCL uses.
std::vector<NetworkPort> network_ports(const FileTree& tree);

}  // namespace foretrain
