// Ports of the network adapters of a machine: InfiniBand's and Ethernet's, with rate and state.
#pragma once

#include <string>
#include <vector>

#include "sim/import/detection/file_tree.hpp"

namespace foretrain {

/// A network port of this machine as the kernel shows it.
struct NetworkPort {
  std::string name;    ///< "mlx5_0", "eth0"
  std::string device;  ///< folder of the device, as FileTree::real_path()
  double gbps = 0;     ///< 0: not said
  bool is_rdma = false, is_down = false;
  std::string state_file;
};

/// An Ethernet port that is also RDMA's stands once, by the name that NCCL uses.
std::vector<NetworkPort> network_ports(const FileTree& tree);

}  // namespace foretrain
