// The time of one collective on an idle machine, in its parts.
//
// The time of a collective is the sum of three parts. Steps: the sequential latencies of all hops, for
// instance 2 (n - 1) for a ring's all-reduce. Fill: the time until the first data has reached the last rank
// of a pipeline. Flow: the bytes of the busiest edge divided by the rate of its narrowest place. This place
// is a link, the thread blocks of the channels, the sockets of a connection, or the proxy thread that posts
// messages to the NIC.
//
// Small messages are bound by steps, large ones by flow. In between, the size of the pieces decides how much
// of the fill is seen. Each protocol has its own unit of forwarding: a line per thread for LL and LL128, a
// slice of a chunk for Simple. docs/models/collectives.md has the formulas with symbols and the fit of
// each constant.
//
// Between nodes a message may need the rendezvous protocol: above the eager limit of the link the sender
// waits for the receiver's answer before it sends. That adds a round trip to the latency of a step, and time
// of the proxy to each message.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/collective/costs.hpp"
#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/channels_used.hpp"
#include "sim/collective/nccl/peer_shape.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// The facts that the time of a collective depends on: the choice of NCCL, the loads of links, and the
/// constants.
struct TimingInput {
  CollectiveOp op = CollectiveOp::all_reduce;
  nccl::Algorithm algorithm = nccl::Algorithm::ring;
  Protocol protocol = Protocol::simple;
  /// Size as nccl-tests counts it.
  double bytes = 0;
  int ranks = 1, nodes = 1, ranks_per_node = 1;
  /// NVLink joins the ranks of a node.
  bool nvlink = true;
  /// Some edge of the ring goes through host memory.
  bool staged = false;
  /// Channels of a ring that one rank's proxy sends and receives for, per channel that runs.
  double proxy_share = 1;
  nccl::RunShape run{};
  nccl::ChunkShape chunk{};
  double inside_seconds_per_byte = 0,
         /// Seconds per byte of message of the busiest link: inside nodes, and between them.
      between_seconds_per_byte = 0;
  /// The kernel's work is handed over channel by channel.
  bool by_channel = false;
  /// Share of the channels' rate that is reached when operands are not aligned (copied_share()).
  double copied = 1;
  /// Seconds per byte of message of the slowest route between nodes if nothing else is on its links.
  double between_alone = 0;
  /// Link between nodes; nullptr for one node.
  const LinkType* network = nullptr;
  /// Time on the way to the network over the NVLink of a relay.
  Time relayed{};
  /// TCP connections of a channel in this version; 0: they set no limit.
  int flows = 0;
  /// Every rank is a pod: one thread serves all sockets of a rank.
  bool sockets_of_pods = false;
  const CollectiveCosts* costs = nullptr;
};

/// The parts of the time, without the host's launch.
struct CollectiveTiming {
  /// Time of kernel and protocol, once.
  Time start{};
  /// Sequential latencies, as far as they are not hidden behind the data.
  Time steps{};
  /// Time until the last link of a pipeline has its first piece; a ring's last step.
  Time fill{};
  /// Time of the bytes over the bottleneck.
  Time data{};
  /// Part of `fill`: a ring's last step, in which received data is copied to its place and no link is busy.
  Time last{};
  int inner_steps = 0, network_steps = 0;
  /// The thread blocks are the bottleneck, not a link.
  bool channel_bound = false;
  Time latency() const { return start + steps + fill; }
  Time total() const { return latency() + data; }
};

/// Returns the time: start + steps + fill + data. Around a ring every step is a hop, so either the hops or
/// the slowest edge set the pace (docs/models/collectives.md). One rank has only the time of the kernel.
CollectiveTiming time_of(const TimingInput& input);

/// Returns the latency of one step between GPUs of a node.
Time inner_step(const TimingInput& input, bool tree);
/// Returns the latency of one step between nodes with a message of `data` bytes.
Time network_step(const TimingInput& input, double data);
/// Returns the bytes that a rank passes on as soon as it has them: the unit of pipelines.
double forwarding_unit(const TimingInput& input);
/// Returns how often NVLS goes through the switch, with one chunk per head and channel at a time.
int multicast_pieces(const TimingInput& input);

/// The sends of the busiest rank to its peers.
struct PeerSend {
  /// Bytes to each peer.
  double bytes = 0;
  /// Bytes to the rank itself, copied by as many blocks, one peer after the other.
  double own = 0;
  int peers = 1;
  /// Number of peers on other nodes.
  int remote = 0;
  nccl::PeerShape shape{};
  /// Thread blocks of all sends and receives.
  int channels = 1;
  /// The sender's block writes to the final place, because the ranks belong to one process.
  bool direct = false;
};
/// Returns the rate of the thread blocks of one message when all peers are served at once.
ByteRate peer_rate(const CollectiveCosts& costs, const PeerSend& send);
/// Returns the latency of a message from one kernel to the other, with the proxies.
Time peer_step(const TimingInput& input, const PeerSend& send);
/// Returns the time of sends and receives: all pairs at once, one hop each.
CollectiveTiming time_of_peers(const TimingInput& input, const PeerSend& send);

}  // namespace foretrain
