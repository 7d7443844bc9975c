// A set of constants for each generation that the training rows cover. Older GPUs take Volta's, Ada takes
// Ampere's. AMD's take those of NVIDIA's GPUs of their years, because no training row of RCCL exists
// (docs/models/collectives.md).
//
// Constants belong to a generation of GPU, not to a cluster: whatever belongs to a link is in its file in
// topologies/links. Each was fitted on published rows of nccl-tests, and cross-validated by leaving out whole
// clusters; docs/models/collectives.md has the figures.
#include "sim/collective/costs.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {

namespace {

constexpr ByteRate gigabytes(double per_second) { return {per_second * 1e9}; }

/// Returns the constants that do not depend on the GPU.
CollectiveCosts common() {
  CollectiveCosts costs;
  costs.group_launch = microseconds(5.7);
  // The source is a run of twelve V100 of one process, NCCL 2.4: all-gathers of 512 KiB with LL on six
  // channels take 13.5 us more than those of 0 B on one channel (wohlbier/nccl-tests).
  costs.channel_enqueue = microseconds(0.22);
  // The source is a run of two A100 of one process, NCCL 2.7.3: from one channel to 24 a call grows by 31 us
  // for any operation (abhivijay96/nccl-tests). Four and eight A100 of an NDv4 grow by as much beyond the
  // time that their launches hide.
  costs.channel_start = microseconds(1.3);
  costs.peer_start = microseconds(1.1);
  costs.pcie_step = {microseconds(3.4), microseconds(4.2), microseconds(4.2)};
  costs.network_factor = {1.17, 1.13, 2.26};
  costs.network_step = {Time::zero(), microseconds(0.5), microseconds(13)};
  costs.link_efficiency = {0.39, 0.8, 1};
  costs.network_efficiency = {0.5, 0.68, 1};
  costs.low_latency_network = gigabytes(2);
  // Polaris, 8 to 1,024 ranks: 0 B take 1.9 to 2.9 us per peer, 256 B to 2 KiB take 4.5 us and more
  // (alcf-nccl-tests).
  costs.peer_enqueue = microseconds(2);
  costs.peer_message = microseconds(4.5);
  // Two ranks over loopback sockets, NCCL 2.29 (eunomia-bpf/nccl-eBPF); the step is that of p3dn over TCP.
  costs.socket_rate = gigabytes(2.6);
  costs.socket_step = microseconds(95);
  costs.peer_network_efficiency = 0.51;
  costs.multicast_start = microseconds(25);
  costs.multicast_efficiency = 0.78;
  costs.default_network_step = microseconds(10);
  return costs;
}

/// Rate of a channel of a send, which is what one block copies. Two A100 with two channels reach 28.6 GB/s in
/// all; a B300 has 19.5 in each of 32 (docs/sources/nccl_tuning.md 5). Older GPUs take the value of the A100,
/// Hopper that of Blackwell.
constexpr ByteRate kPeerChannelOfA100 = gigabytes(14.3), kPeerChannelOfB300 = gigabytes(19.5);

CollectiveCosts volta() {
  CollectiveCosts costs = common();
  // All-gather of 0 B on twelve V100 of one process: 57.2 us (wohlbier/nccl-tests, DGX-2).
  costs.launch = microseconds(4.8);
  costs.peer_channel_rate = kPeerChannelOfA100;
  costs.kernel = microseconds(4.3);
  costs.simple_start = microseconds(10);
  costs.ring_step = {microseconds(0.94), microseconds(2.5), microseconds(3.8)};
  costs.tree_step = {microseconds(0.6), microseconds(2.3), microseconds(4)};
  costs.channel_rate = {gigabytes(5), gigabytes(10), gigabytes(21)};
  // Pairs of a DGX-1 reach all of their one or two NVLinks, so this limit is not visible.
  costs.copy_rate = gigabytes(100);
  return costs;
}

CollectiveCosts ampere() {
  CollectiveCosts costs = common();
  costs.launch = microseconds(3.8);
  costs.peer_channel_rate = kPeerChannelOfA100;
  costs.kernel = microseconds(8.6);
  costs.simple_start = microseconds(6.9);
  costs.ring_step = {microseconds(0.94), microseconds(2.3), microseconds(6.7)};
  costs.tree_step = {microseconds(0.57), microseconds(3.6), microseconds(0.73)};
  costs.channel_rate = {gigabytes(5.6), gigabytes(14), gigabytes(20)};
  costs.copy_rate = gigabytes(33);
  return costs;
}

CollectiveCosts hopper() {
  CollectiveCosts costs = common();
  costs.launch = microseconds(4.5);
  costs.peer_channel_rate = kPeerChannelOfB300;
  costs.kernel = microseconds(5.4);
  costs.simple_start = microseconds(10);
  costs.ring_step = {microseconds(0.63), microseconds(1.7), microseconds(2.7)};
  costs.tree_step = {microseconds(0.6), microseconds(2.4), microseconds(1)};
  costs.channel_rate = {gigabytes(10), gigabytes(16), gigabytes(48)};
  costs.copy_rate = gigabytes(32);
  return costs;
}

/// Constants of Blackwell. The only training series is over two nodes and used trees and NVLS, so the ring's
/// steps are assumed.
CollectiveCosts blackwell() {
  CollectiveCosts costs = hopper();
  costs.kernel = microseconds(8);
  costs.ring_step = {microseconds(1.2), microseconds(3.2), microseconds(3.7)};
  costs.tree_step = {microseconds(0.6), microseconds(2.4), microseconds(4)};
  costs.channel_rate = {gigabytes(10), gigabytes(18), gigabytes(21)};
  costs.copy_rate = gigabytes(44);
  // Share of what nvlink5 reaches: 0.74 of 721.8 GB/s.
  costs.multicast_efficiency = 0.72;
  return costs;
}

}  // namespace

double multicast_efficiency(const CollectiveCosts& costs, int gpus) {
  // The slope is 1 - 0.60 / 0.74 over log2(72 / 8) doublings.
  constexpr double kMeasured = 8, kDoubling = 0.06;
  const double doublings = std::max(0.0, std::log2(gpus / kMeasured));
  return costs.multicast_efficiency * std::max(0.5, 1 - kDoubling * doublings);
}

CollectiveCosts costs_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::cpu:
    case Architecture::kepler:
    case Architecture::pascal:
    case Architecture::volta:
    case Architecture::turing:
      return volta();
    case Architecture::ampere:
    case Architecture::cdna:
    case Architecture::cdna2:
    case Architecture::ada:
      return ampere();
    case Architecture::cdna3:
    case Architecture::hopper:
      return hopper();
    case Architecture::blackwell:
      return blackwell();
  }
  return common();
}

}  // namespace foretrain
