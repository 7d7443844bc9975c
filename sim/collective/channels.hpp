// Channels: in which order the ranks stand in the rings that a collective runs on.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"

namespace foretrain {

/// One ring. Between nodes it uses the NICs of index `rail`.
struct Channel {
  std::vector<int> order;
  int rail = 0;
};

struct ChannelSet {
  std::vector<Channel> channels;  ///< each carries an equal share of the message
  int running = 1;                ///< thread blocks NCCL runs: every ring is instantiated twice
};

/// Rings as NCCL finds them in effect. One node: over direct NVLinks, rings that each take one link, those with the most room
/// first, until no ring is left; over NVSwitch or PCIe one ring that stands for all. Several nodes: one ring per NIC; on each
/// node it enters at the GPU nearest to the NIC and leaves from the second nearest.
ChannelSet find_channels(const Cluster& cluster, const Placement& placement);

}  // namespace foretrain
