// How long one collective takes on an idle machine, in its parts.
//
// The time of a collective is the sum of three parts. Steps: the latencies of all hops that come one after
// the other, for instance 2 (n - 1) for a ring's all-reduce. Fill: the time until the first data has reached
// the last rank of a pipeline. Flow: the bytes of the busiest edge divided by the rate of its narrowest
// place, which is a link, the thread blocks of the channels, the sockets of a connection, or the proxy thread
// that posts messages to the NIC.
//
// Small messages are bound by steps, large ones by flow; in between, the size of the pieces decides how much
// of the fill is seen. Each protocol has its own unit of forwarding: a line per thread for LL and LL128, a
// slice of a chunk for Simple. Formulas with symbols and the fit of each constant:
// docs/models/collective_time.md.
//
// Between nodes a message may need the rendezvous protocol: above the eager limit of the link the sender asks
// first and waits for the receiver's answer. That adds a round trip to the latency of a step, and time of the
// proxy to each message.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/collective/costs.hpp"
#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/channels_used.hpp"
#include "sim/collective/nccl/peer_shape.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// One collective as NCCL runs it.
struct TimingInput {
  CollectiveOp op = CollectiveOp::all_reduce;
  nccl::Algorithm algorithm = nccl::Algorithm::ring;
  Protocol protocol = Protocol::simple;
  double bytes = 0;  ///< as nccl-tests counts them
  int ranks = 1, nodes = 1, ranks_per_node = 1;
  bool nvlink = true;      ///< between the ranks of a node
  bool staged = false;     ///< some edge of the ring goes through host memory
  double proxy_share = 1;  ///< channels of a ring that one rank's proxy sends and receives for, per channel
  nccl::RunShape run{};
  nccl::ChunkShape chunk{};
  double inside_seconds_per_byte = 0,
         /// Of the busiest link inside nodes and between them, per byte of message.
      between_seconds_per_byte = 0;
  bool by_channel = false;   ///< the kernel's work is handed over channel by channel
  double copied = 1;         ///< of the channels' rate, with operands that do not lie alike (copied_share())
  double between_alone = 0;  ///< of the slowest route between nodes, if nothing else was on its links
  const LinkType* network = nullptr;  ///< between nodes
  Time relayed{};                     ///< on the way to it over the NVLink of a relay
  int flows = 0;                      ///< TCP connections of a channel in this version; 0: no limit of theirs
  bool sockets_of_pods = false;       ///< every rank is a pod: one thread serves all sockets of a rank
  const CollectiveCosts* costs = nullptr;
};

/// What the time is made of; the host's launch is not in it.
struct CollectiveTiming {
  Time start{};  ///< kernel and protocol, once
  Time steps{};  ///< latencies one after the other, as far as they are not hidden behind the data
  Time fill{};   ///< until the last link of a pipeline has its first piece; a ring's last step
  Time data{};   ///< the bytes over the bottleneck
  Time last{};   ///< of `fill` a ring's last step: what came in goes to its place, and no link is busy
  int inner_steps = 0, network_steps = 0;
  bool channel_bound = false;  ///< the thread blocks, not a link, are the bottleneck
  Time latency() const { return start + steps + fill; }
  Time total() const { return latency() + data; }
};

/// start + steps + fill + data; around a ring every step is a hop, so that either the hops or the slowest
/// edge set the pace (docs/models/collective_time.md). One rank: nothing but the kernel.
CollectiveTiming time_of(const TimingInput& input);

/// One step, small message: between GPUs of a node, and between nodes with a message of `data` bytes.
Time inner_step(const TimingInput& input, bool tree);
Time network_step(const TimingInput& input, double data);
/// What a rank passes on as soon as it has it: the unit of pipelines.
double forwarding_unit(const TimingInput& input);
/// How often NVLS goes through the switch, one chunk per head and channel at a time.
int multicast_pieces(const TimingInput& input);

/// How NCCL sends to the peers of the busiest rank.
struct PeerSend {
  double bytes = 0;  ///< to each
  double own = 0;    ///< and to itself, copied by as many blocks, one peer after the other
  int peers = 1;
  int remote = 0;  ///< of them on other nodes
  nccl::PeerShape shape{};
  int channels = 1;     ///< thread blocks of all sends and receives
  bool direct = false;  ///< the sender's block writes where the receiver wants it: ranks of one process
};
/// What the thread blocks of one message of that shape move, when all peers are served at once.
ByteRate peer_rate(const CollectiveCosts& costs, const PeerSend& send);
/// A message to a peer from one kernel to the other, proxies included.
Time peer_step(const TimingInput& input, const PeerSend& send);
/// Sends and receives: all pairs at once, one hop each.
CollectiveTiming time_of_peers(const TimingInput& input, const PeerSend& send);

}  // namespace foretrain
