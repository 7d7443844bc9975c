// The rings a collective runs over: found on the NVLinks, the PCIe tree and the rails of the cluster.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"

namespace foretrain {

/// One ring over all ranks; it carries an equal share of every message.
struct Channel {
  std::vector<int> order;  ///< ranks in ring order
  int rail = 0;            ///< NIC index used between nodes
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// All rings of a job.
struct Rings {
  std::vector<Channel> channels;
  /// Thread blocks NCCL runs for them, one SM each. Every ring of its search is instantiated twice; between nodes its search finds
  /// one ring per rail (two for a single rail), of which our pair per rail stands for both copies.
  int running_channels = 0;
};

inline constexpr int kMostChannels = 32;          ///< MAXCHANNELS of NCCL <= 2.24
inline constexpr int kMostSearchedChannels = 12;  ///< what NCCL prints for A100 and H100 NVSwitch nodes

/// One node: rings of one NVLink's width each, over every link there is (NCCL: at most twelve, wider ones), for up to 8 GPUs; GPUs behind
/// NVSwitches: index order, as many rings as a GPU has links; otherwise PCIe neighbours in a row, once in each direction. Several nodes:
/// two rings per NIC; each enters a node at the GPU closest to that NIC and leaves at the next closest (the second ring the other way
/// round). Requires a placement of at least one rank on nodes of the cluster.
Rings find_rings(const Cluster& cluster, const Placement& placement);

}  // namespace foretrain
