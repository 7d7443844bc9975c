// What NCCL's search finds for one pattern on one node: how many channels, how fast each, over what kind of
// path, in which order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/cluster/path_class.hpp"

namespace foretrain::nccl {

/// ring: in at the first GPU, out at the last. Trees are chains of GPUs; tree: parent and children at the
/// first; split_tree: parent at the first, children at the second; balanced_tree: parent and one child at the
/// first, the other child at the second. nvls, collnet_direct: only the head counts.
enum class Pattern : std::uint8_t { balanced_tree, split_tree, tree, ring, nvls, collnet_direct };

/// "ring", "balanced tree", …
std::string_view name_of(Pattern pattern);

/// One channel inside a node.
struct ChannelPath {
  std::vector<int> gpus;          ///< GPU indices of the node in order
  int nic_in = -1, nic_out = -1;  ///< NIC indices; -1: none (one node)
  friend bool operator==(const ChannelPath&, const ChannelPath&) = default;
};

/// Per-channel figures in GB/s, as NCCL prints them.
struct GraphResult {
  Pattern pattern = Pattern::ring;
  int channels = 0;  ///< 0: this pattern is not available
  double bw_intra = 0, bw_inter = 0;
  PathClass type_intra = PathClass::loc, type_inter = PathClass::loc;
  bool same_channels = true;  ///< every channel visits the GPUs in the same order
  bool cross_nic = false;     ///< a channel may leave over another rail than it came in
  double nic_latency_us = 0;  ///< as the network plug-in reports it; IB and sockets: 0
  std::vector<ChannelPath> paths{};
  friend bool operator==(const GraphResult&, const GraphResult&) = default;
};

}  // namespace foretrain::nccl
