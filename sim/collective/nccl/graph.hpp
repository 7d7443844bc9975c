// The result of NCCL's search for one pattern on one node: the number of channels, their speed, the class of
// their paths, and the order of GPUs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/cluster/path_class.hpp"

namespace foretrain::nccl {

/// Patterns of channels. ring: in at the first GPU, out at the last. Trees are chains of GPUs. tree: parent
/// and children at the first GPU. split_tree: parent at the first, children at the second. balanced_tree:
/// parent and one child at the first, the other child at the second. nvls and collnet_direct: only the head
/// counts.
enum class Pattern : std::uint8_t { balanced_tree, split_tree, tree, ring, nvls, collnet_direct };

/// Returns the name for people: "ring", "balanced tree", …
std::string_view name_of(Pattern pattern);

/// A channel inside a node.
struct ChannelPath {
  /// GPU indices of the node in order.
  std::vector<int> gpus;
  /// NIC indices; -1: none (one node).
  int nic_in = -1, nic_out = -1;
  friend bool operator==(const ChannelPath&, const ChannelPath&) = default;
};

/// The channels of a pattern, with figures per channel in GB/s, as NCCL prints them.
struct GraphResult {
  Pattern pattern = Pattern::ring;
  /// Number of channels; 0: this pattern is not available.
  int channels = 0;
  double bw_intra = 0, bw_inter = 0;
  PathClass type_intra = PathClass::loc, type_inter = PathClass::loc;
  /// Every channel visits the GPUs in the same order.
  bool same_channels = true;
  /// A channel may leave by another rail than it came in by.
  bool cross_nic = false;
  /// Latency that the network plug-in reports, in us; 0 for IB and sockets.
  double nic_latency_us = 0;
  std::vector<ChannelPath> paths{};
  friend bool operator==(const GraphResult&, const GraphResult&) = default;
};

}  // namespace foretrain::nccl
