// What the parts of a collective take on real GPUs, by generation: the constants of our time model, and where
// they are from.
#pragma once

#include <array>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/collective/protocol.hpp"

namespace foretrain {

/// One figure per protocol: LL, LL128, Simple.
template <typename Value>
using ByProtocol = std::array<Value, 3>;

template <typename Value>
const Value& of(const ByProtocol<Value>& values, Protocol protocol) {
  return values[static_cast<std::size_t>(protocol)];
}

/// Fitted on docs/measured/nccl.csv per generation of GPU and kind of link, never per cluster, size or row
/// (docs/models/collective_time.md says how, and what is left over).
struct CollectiveCosts {
  Time launch{};           ///< host time of one launch; follows the GPU, not the CPU, in the training rows
  Time channel_enqueue{};  ///< and of every channel but the first, before NCCL 2.10
  Time group_launch{};     ///< of a group of sends and receives
  Time kernel{};           ///< a kernel that starts, meets its peers and ends
  Time channel_start{};    ///< and every channel of it but the first, before NCCL 2.10
  Time simple_start{};     ///< what Simple needs beyond its steps, on NVLink: fences, first slices
  Time peer_start{};       ///< a kernel of sends and receives beyond `kernel`
  Time peer_enqueue{};     ///< host time of a send and a receive over the network, in a group
  Time peer_message{};     ///< the proxy thread's time for a message sent and one received
  ByProtocol<Time> ring_step{}, tree_step{},
      pcie_step{};                      ///< to the next GPU: NVLink in rings and trees, PCIe
  ByProtocol<double> network_factor{};  ///< multiples of LinkType::collective_latency in a step between nodes
  ByProtocol<Time> network_step{};      ///< and beyond it: fences, flushes
  ByProtocol<ByteRate> channel_rate{};  ///< data one thread block moves to the next rank
  ByteRate copy_rate{};                 ///< and from its buffer to the memory beside it
  ByProtocol<double> link_efficiency{};     ///< share of a link's rate that is data, inside a node
  ByProtocol<double> network_efficiency{};  ///< the same between nodes
  ByteRate low_latency_network{};  ///< most that LL gets out of a NIC: a CPU thread checks every line
  ByteRate peer_channel_rate{};    ///< one channel of a send
  /// Share of a NIC's rate that sends to many peers reach, in small messages.
  double peer_network_efficiency = 1;
  Time multicast_start{};             ///< NVLS: beyond `kernel`
  double multicast_efficiency = 0.8;  ///< NVLS: of the NVLinks' rate
  Time default_network_step{};        ///< where the link gives no collective_latency
  ByteRate socket_rate{};  ///< what the one thread of a rank that serves its sockets moves each way
  Time socket_step{};      ///< at least, of a step between pods
};

CollectiveCosts costs_of(Architecture architecture);

/// What NVLS reaches over a switch with so many GPUs: of 8 and of 72 Blackwell GPUs 0.74 and 0.60 of the same
/// NVLinks (coreweave/nccl-tests, nccl#1807), in between and beyond along the logarithm.
double multicast_efficiency(const CollectiveCosts& costs, int gpus);

// The constants of collectives that a calibration may replace, by name, and the costs of a cluster with its
// own in place.

/// "nccl.kernel", "nccl.ring_step.ll", …
const std::vector<ConstantOf<CollectiveCosts>>& collective_constants();

/// Those of the GPU's generation, replaced by those that were measured on the cluster.
CollectiveCosts costs_of(const ClusterSpec& cluster);

}  // namespace foretrain
