// The costs of the parts of a collective on real GPUs, by generation: the constants of the time model and
// their sources.
#pragma once

#include <array>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/collective/protocol.hpp"

namespace foretrain {

/// A figure for each protocol: LL, LL128, Simple.
template <typename Value>
using ByProtocol = std::array<Value, 3>;

/// Returns the figure of a protocol.
template <typename Value>
const Value& of(const ByProtocol<Value>& values, Protocol protocol) {
  return values[static_cast<std::size_t>(protocol)];
}

/// The constants of the time model. They were fitted on docs/measured/nccl.csv per generation of GPU and kind
/// of link, never per cluster, size or row (docs/models/collectives.md describes the fit and its
/// residuals).
struct CollectiveCosts {
  /// Host time of one launch. It depends on the GPU and not on the CPU in the training rows.
  Time launch{};
  /// Host time of every channel but the first, before NCCL 2.10.
  Time channel_enqueue{};
  /// Host time of launching a group of sends and receives.
  Time group_launch{};
  /// Time of a kernel that starts, meets its peers and ends.
  Time kernel{};
  /// Time that every channel but the first adds to a kernel, before NCCL 2.10.
  Time channel_start{};
  /// Time that Simple needs beyond its steps on NVLink: fences, first slices.
  Time simple_start{};
  /// Time of a kernel of sends and receives beyond `kernel`.
  Time peer_start{};
  /// Host time of a send and a receive over the network, in a group.
  Time peer_enqueue{};
  /// Time of the proxy thread for one message sent and one received.
  Time peer_message{};
  /// Latency of one step.
  ByProtocol<Time> ring_step{}, tree_step{},
      pcie_step{};  ///< to the next GPU: over NVLink in rings and trees, over PCIe
  /// Multiples of LinkType::collective_latency in a step between nodes.
  ByProtocol<double> network_factor{};
  /// Time of a step between nodes beyond these multiples: fences, flushes.
  ByProtocol<Time> network_step{};
  /// Rate at which one thread block moves data to the next rank.
  ByProtocol<ByteRate> channel_rate{};
  /// Rate at which one thread block moves data from its buffer to the memory of the same GPU.
  ByteRate copy_rate{};
  /// Share of a link's rate that is data, inside a node.
  ByProtocol<double> link_efficiency{};
  /// Share of a link's rate that is data, between nodes.
  ByProtocol<double> network_efficiency{};
  /// Highest rate that LL reaches on a NIC, because a CPU thread checks every line.
  ByteRate low_latency_network{};
  /// Rate of one channel of a send.
  ByteRate peer_channel_rate{};
  /// Share of a NIC's rate that sends to many peers reach, in small messages.
  double peer_network_efficiency = 1;
  /// Time of NVLS beyond `kernel`.
  Time multicast_start{};
  /// Share of the NVLinks' rate that NVLS reaches.
  double multicast_efficiency = 0.8;
  /// Latency of a step between nodes if the link gives no collective_latency.
  Time default_network_step{};
  /// Rate in each direction of the one thread of a rank that serves its sockets.
  ByteRate socket_rate{};
  /// Least latency of a step between pods.
  Time socket_step{};
};

/// Returns the constants of a generation. Generations without measurements take those of a similar one.
CollectiveCosts costs_of(Architecture architecture);

/// Returns the share of the NVLinks' rate that NVLS reaches over a switch with this many GPUs. Over the same
/// NVLinks 8 Blackwell GPUs reach 0.74 and 72 reach 0.60 (coreweave/nccl-tests, nccl#1807). The share falls
/// with the logarithm of the number, between these points and beyond.
double multicast_efficiency(const CollectiveCosts& costs, int gpus);

/// Returns the constants that a calibration may replace, by name: "nccl.kernel", "nccl.ring_step.ll", …
const std::vector<ConstantOf<CollectiveCosts>>& collective_constants();

/// Returns the constants of the cluster's generation of GPU, with those replaced that were measured on the
/// cluster.
CollectiveCosts costs_of(const ClusterSpec& cluster);

}  // namespace foretrain
