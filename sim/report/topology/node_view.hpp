// A node by its devices: NVLinks counted, and what each device hangs at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Of each GPU; both ways of a pair are there.
struct NvlinkCounts {
  std::vector<std::vector<int>> between;  ///< of GPUs
  std::vector<int> to_switches, to_cpus;
  int of(std::size_t gpu) const;  ///< all of them
  bool empty() const;
};
NvlinkCounts nvlink_counts(const NodeSpec& node);

/// The link of a device towards the CPUs: to a switch or CPU, the widest; nullptr: none.
const NodeLink* host_link_at(const NodeSpec& node, std::string_view device);
/// The device at the other end of a link.
const std::string& other_end(const NodeLink& link, std::string_view device);

/// "gpu3"
std::string gpu_name(int index);
std::string nic_name(int index);

}  // namespace foretrain
