// The devices and booked links of one node, as NCCL would read them from the machine.
#pragma once

#include <vector>

#include "sim/collective/nccl/node_map.hpp"

namespace foretrain::nccl {

enum class DeviceKind : std::uint8_t { gpu, cpu, pcie_switch, nvswitch, nic, port };
enum class BookedKind : std::uint8_t { nvlink, c2c, pcie, socket, network };

/// One direction. Link 2i + 1 goes back over link 2i.
struct BookedLink {
  int from = 0, to = 0;
  BookedKind kind = BookedKind::pcie;
  Milli bandwidth = 0;
};

struct NodeLinks {
  std::vector<DeviceKind> devices;  ///< the job's GPUs first
  std::vector<BookedLink> links;
  std::vector<std::vector<int>> out;  ///< by device: links that leave it, widest first
  int first_port = 0, ports = 0;      ///< a port is the network side of a NIC
  int nvswitch = -1;                  ///< all NVSwitches are one
  std::vector<int> cpus;

  static NodeLinks read(const NodeMapInput& input);
};

/// The paths from every device to `base`, found breadth first: fewest hops, then the widest. GPUs relay
/// NVLink for one hop.
std::vector<NodePath> paths_to(const NodeLinks& node, int base, bool old_gpu, bool power_cpu);

}  // namespace foretrain::nccl
