// A node by its devices: counted NVLinks, and what each device is attached to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Numbers of NVLinks of each GPU. A pair is counted at both of its GPUs.
struct NvlinkCounts {
  /// Links between two GPUs.
  std::vector<std::vector<int>> between;
  /// Links of each GPU to NVSwitches and to CPUs.
  std::vector<int> to_switches, to_cpus;
  /// Returns all links of a GPU.
  int of(std::size_t gpu) const;
  /// Returns true when no GPU has a link.
  bool empty() const;
};
/// Counts the NVLinks of a node.
NvlinkCounts nvlink_counts(const NodeSpec& node);

/// Returns the widest link of a device to a switch or CPU; nullptr: there is none.
const NodeLink* host_link_at(const NodeSpec& node, std::string_view device);
/// Returns the device at the other end of a link.
const std::string& other_end(const NodeLink& link, std::string_view device);

/// Return names such as "gpu3" and "nic3".
std::string gpu_name(int index);
std::string nic_name(int index);

}  // namespace foretrain
