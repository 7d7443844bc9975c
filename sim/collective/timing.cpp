// The time of each algorithm: its sequential steps by kind, then the data at the rate of the narrowest place.
#include "sim/collective/timing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

namespace {

constexpr double kLowLatencyUnit = 4096;  ///< bytes: LL forwards a line per thread, 512 threads x 8 B
constexpr double kLow128Unit = 9600;      ///< bytes: LL128, 640 threads x 15 B
constexpr double kLowLatencySlot = 32768, kLow128Slot = 576000;  ///< bytes of data in a slot of a buffer
constexpr double kLeastSlice = 32768;  ///< bytes: Simple cuts no message below this (prims_simple.h)

int levels(int nodes) { return nodes > 1 ? std::bit_width(static_cast<unsigned>(nodes)) - 1 : 0; }

/// Returns the bytes of one message with the flags of its lines.
double with_flags(Protocol protocol, double data) {
  switch (protocol) {
    case Protocol::ll:
      return 2 * data;
    case Protocol::ll128:
      return data * 128 / 120;
    case Protocol::simple:
      break;
  }
  return data;
}

}  // namespace

double forwarding_unit(const TimingInput& in) {
  const double share = in.bytes / std::max(1, in.run.channels);
  switch (in.protocol) {
    case Protocol::ll:
      return std::min(share, kLowLatencyUnit);
    case Protocol::ll128:
      return std::min(share, kLow128Unit);
    case Protocol::simple:
      break;
  }
  return std::min(share, static_cast<double>(std::max<std::int64_t>(1, in.chunk.slice())));
}

Time inner_step(const TimingInput& in, bool tree) {
  const CollectiveCosts& costs = *in.costs;
  if (!in.nvlink) return of(costs.pcie_step, in.protocol);
  return of(tree ? costs.tree_step : costs.ring_step, in.protocol);
}

namespace {

/// Returns the link's latency, or the least latency of a pod's socket if that is more.
Time small_step(const TimingInput& in) {
  const Time own = in.network->collective_latency > Time::zero() ? in.network->collective_latency
                                                                 : in.costs->default_network_step;
  return in.sockets_of_pods ? std::max(own, in.costs->socket_step) : own;
}

bool uses_rendezvous(const TimingInput& in, double message) {
  return in.network->eager_limit.count > 0 &&
         with_flags(in.protocol, message) > static_cast<double>(in.network->eager_limit.count);
}

/// Returns the time of a copy by the receiver's CPU. A message without a handshake arrives in a buffer of the
/// plug-in. The CPU copies small messages from there word by word, and larger ones by a call of the GPU's
/// driver.
Time copied_by_cpu(const TimingInput& in, double message) {
  const LinkType& link = *in.network;
  const double wire = with_flags(in.protocol, message);
  if (link.copy_limit.count == 0 || wire <= static_cast<double>(link.copy_limit.count) ||
      uses_rendezvous(in, message))
    return Time::zero();
  return link.copy_latency + seconds(link.copy_rate.per_second > 0 ? wire / link.copy_rate.per_second : 0);
}

}  // namespace

Time network_step(const TimingInput& in, double message) {
  if (in.network == nullptr) return Time::zero();
  const Time one = seconds(to_seconds(small_step(in)) * of(in.costs->network_factor, in.protocol)) +
                   of(in.costs->network_step, in.protocol);
  return one + in.relayed + copied_by_cpu(in, message) +
         (uses_rendezvous(in, message) ? in.network->rendezvous_latency : Time::zero());
}

int multicast_pieces(const TimingInput& in) {
  const double loop = static_cast<double>(std::max<std::int64_t>(1, in.chunk.chunk)) *
                      std::max(1, in.run.channels) * in.ranks_per_node;
  return static_cast<int>(std::clamp(std::ceil(in.bytes / loop), 1.0, 65536.0));
}

namespace {

/// Returns the bytes that a proxy sends at once: a buffer of the protocols with flags, a slice of Simple.
double network_message(const TimingInput& in) {
  const double share = in.bytes / std::max(1, in.run.channels);
  if (in.protocol == Protocol::simple) return forwarding_unit(in);
  return std::min(share, in.protocol == Protocol::ll ? kLowLatencySlot : kLow128Slot);
}

/// Returns the seconds per byte of message that a channel's TCP connections need together; 0: no limit.
double of_connections(const TimingInput& in) {
  if (in.network == nullptr || in.flows == 0 || in.network->flow_bandwidth.per_second <= 0) return 0;
  const double of_one = in.network->flow_bandwidth.per_second * in.network->collective_efficiency;
  return 1 / (std::max(1, in.run.channels) * in.flows * of_one);
}

/// Returns the seconds per byte of thread blocks, or of a pod's socket thread, for which flags are bytes too.
double of_channels(const TimingInput& in) {
  const double blocks =
      1 / (std::max(1, in.run.channels) * of(in.costs->channel_rate, in.protocol).per_second * in.copied);
  return in.sockets_of_pods ? std::max(blocks, with_flags(in.protocol, 1) / in.costs->socket_rate.per_second)
                            : blocks;
}

/// Seconds per byte on a hop inside a node and on a hop between nodes.
struct SecondsPerByte {
  double inside = 0, between = 0;
  double slowest() const { return std::max(inside, between); }
};

/// Returns the time of hops; `edge`: bytes on a hop per byte. The link or the thread block sets the rate of a
/// hop.
SecondsPerByte hop_seconds_per_byte(const TimingInput& in, double edge, CollectiveTiming& timing) {
  const double blocks = edge * of_channels(in);
  timing.channel_bound = blocks > std::max(in.inside_seconds_per_byte, in.between_seconds_per_byte);
  return {timing.inner_steps > 0 ? std::max(in.inside_seconds_per_byte, blocks) : 0,
          timing.network_steps > 0
              ? std::max({in.between_seconds_per_byte, blocks, edge * of_connections(in)})
              : 0};
}

Time simple_start(const TimingInput& in) {
  return in.protocol == Protocol::simple && in.nvlink && in.ranks_per_node > 1 ? in.costs->simple_start
                                                                               : Time::zero();
}

/// Returns the size of equal pieces, none larger than what all channels pass on at once.
double piece_of(const TimingInput& in) {
  const double most = std::max(1.0, forwarding_unit(in) * std::max(1, in.run.channels));
  return in.bytes / std::max(1.0, std::ceil(in.bytes / most));
}

/// Returns the messages of a ring's step: slices of Simple, buffers of the protocols with flags.
double messages_per_step(const TimingInput& in, double step_bytes) {
  switch (in.protocol) {
    case Protocol::ll:
      return std::ceil(step_bytes / kLowLatencySlot);
    case Protocol::ll128:
      return std::ceil(step_bytes / kLow128Slot);
    case Protocol::simple:
      break;
  }
  const double chunk = static_cast<double>(std::max<std::int64_t>(1, in.chunk.chunk));
  const double slices = std::clamp(std::floor(std::min(step_bytes, chunk) / kLeastSlice), 1.0,
                                   std::max(1.0, 1.0 * in.chunk.slices));
  return slices * std::ceil(step_bytes / chunk);
}

/// Returns the time between two messages of a proxy.
Time message_gap(const TimingInput& in) {
  const bool crowded = in.network->crowded_nodes > 0 && in.nodes > in.network->crowded_nodes;
  const bool other = crowded && in.network->crowded_message_gap > Time::zero();
  return other ? in.network->crowded_message_gap : in.network->message_gap;
}

/// Returns a proxy's time for a message of that size. A thread that matches messages includes the handshake.
Time proxy_message(const TimingInput& in, double message) {
  return std::max(message_gap(in), uses_rendezvous(in, message) ? in.network->rendezvous_gap : Time::zero());
}

/// Returns the time of a proxy's messages of one step, which are sequential.
Time proxy_step(const TimingInput& in, double step_bytes) {
  if (in.network == nullptr) return Time::zero();
  const double channels = std::max(1.0, in.proxy_share * std::max(1, in.run.channels));
  const double messages = std::max(1.0, messages_per_step(in, step_bytes));
  return seconds(to_seconds(proxy_message(in, step_bytes / messages)) * channels * messages);
}

/// Seconds of one step of a ring: a hop to the next rank, and one more message over the busiest edge.
struct RingStep {
  double inner_hop = 0, network_hop = 0, stay = 0;
};

RingStep ring_step(const TimingInput& in, const SecondsPerByte& hop, double step_bytes, double blocks) {
  const double message = in.bytes / (std::max(1, in.run.channels) * static_cast<double>(in.ranks));
  RingStep step;
  step.inner_hop =
      to_seconds(inner_step(in, false)) + step_bytes * hop.inside;  // rings that share a link meet there
  if (in.nodes > 1)
    step.network_hop =
        to_seconds(network_step(in, message)) + step_bytes * std::max(in.between_alone, blocks);
  step.stay = std::max(step_bytes * hop.slowest(), to_seconds(proxy_step(in, message)));
  return step;
}

/// Returns the seconds of the longest chain of messages. In every step each edge carries one message, which
/// has just come in. The chain walks along the ring with a latency and a message per hop, or stays on a
/// slower edge. It may cross between nodes as often as its steps allow.
double longest_chain(const RingStep& step, int steps, int crossings, int ranks_per_node) {
  if (crossings == 0) return step.inner_hop + (steps - 1) * std::max(step.inner_hop, step.stay);
  double longest = 0;
  for (int m = 1; m <= crossings; ++m) {
    const int inner = (m - 1) * (ranks_per_node - 1), rest = steps - m - inner;
    if (rest < 0) break;
    const double other = ranks_per_node > 1 ? std::max(step.inner_hop, step.stay) : step.stay;
    longest = std::max(longest, m * step.network_hop + inner * step.inner_hop + rest * other);
  }
  return longest;
}

/// Returns the seconds per byte of a ring's last step, in which a rank only receives. Data in host memory
/// comes at the link's rate, other data at that of the thread blocks. The rates of the protocols with flags
/// include the step.
double receive_only(const TimingInput& in, const SecondsPerByte& hop, double edge) {
  const double copied = std::max(1, in.run.channels) * in.costs->copy_rate.per_second;
  const double own = in.protocol == Protocol::simple && copied > 0 ? 1 / copied : 0;
  return (in.staged ? hop.slowest() / edge : own) / static_cast<double>(in.ranks);
}

void time_ring(const TimingInput& in, CollectiveTiming& timing) {
  const RingTraffic ring = ring_traffic(in.op, in.ranks);
  const int turns = in.op == CollectiveOp::all_reduce ? 2 : 1;
  timing.network_steps = in.nodes > 1 ? std::min(ring.steps, turns * in.nodes)
                                      : 0;  // of almost so many turns, the worst begins at a NIC
  timing.inner_steps = ring.steps - timing.network_steps;
  timing.start += simple_start(in);
  const SecondsPerByte hop = hop_seconds_per_byte(in, ring.bytes_per_edge, timing);
  const RingStep step =
      ring_step(in, hop, in.bytes / std::max(1, ring.steps), ring.bytes_per_edge * of_channels(in));
  const Time chain = seconds(longest_chain(step, ring.steps, timing.network_steps, in.ranks_per_node));
  timing.data = seconds(in.bytes * hop.slowest());
  timing.steps = std::max(Time::zero(), chain - timing.data);
  timing.fill = timing.last = seconds(in.bytes * receive_only(in, hop, ring.bytes_per_edge));
}

/// A chain from the root, in which pieces follow each other.
void time_chain(const TimingInput& in, CollectiveTiming& timing) {
  timing.network_steps = in.nodes > 1 && in.ranks_per_node > 1
                             ? in.nodes
                             : in.nodes - 1;  // the root stands somewhere in its node's chain
  timing.inner_steps = in.ranks - 1 - timing.network_steps;
  timing.start += simple_start(in);
  const double piece = piece_of(in);
  const SecondsPerByte hop = hop_seconds_per_byte(in, 1, timing);
  timing.steps = timing.inner_steps * inner_step(in, false) +
                 timing.network_steps * network_step(in, network_message(in));
  timing.fill =
      seconds(piece * (timing.inner_steps * hop.inside + timing.network_steps * hop.between - hop.slowest()));
  timing.data = seconds(in.bytes * hop.slowest());
}

/// Returns the time of a tree's busiest proxy for all messages but the first, which is in the steps. One
/// message goes up an edge, another comes down. In the mean of both trees a node has two edges, except roots
/// and leaves.
Time of_tree_proxies(const TimingInput& in) {
  if (in.network == nullptr || in.nodes < 2) return Time::zero();
  const double message = std::max(1.0, network_message(in)), channels = std::max(1, in.run.channels);
  const double edges = 2.0 * (in.nodes - 1) / in.nodes, each = std::ceil(in.bytes / channels / message);
  const double messages = std::max(1.0, in.proxy_share * channels) * edges * each;
  return seconds(to_seconds(proxy_message(in, message)) * std::max(0.0, messages - 1));
}

/// Pieces go up one chain of ranks and down another at the same time.
void time_tree(const TimingInput& in, CollectiveTiming& timing) {
  timing.inner_steps = 2 * (in.ranks_per_node - 1);
  timing.network_steps = 2 * levels(in.nodes);
  timing.start += simple_start(in);
  const double piece = piece_of(in);
  timing.steps = timing.inner_steps * inner_step(in, true) +
                 timing.network_steps * network_step(in, network_message(in));
  const SecondsPerByte hop = hop_seconds_per_byte(in, 1, timing);
  // A piece shares a link with the other tree, which has half of the load. Between nodes it also meets the
  // pieces before and after it.
  const double inner_hop = std::max(of_channels(in), hop.inside / 2);
  const double network_hop = std::max(of_channels(in), piece < in.bytes ? hop.between : hop.between / 2);
  timing.fill = seconds(piece * std::max(0.0, timing.inner_steps * inner_hop +
                                                  timing.network_steps * network_hop - hop.slowest()));
  timing.data = std::max(seconds(in.bytes * hop.slowest()), of_tree_proxies(in));
}

void time_multicast(const TimingInput& in, CollectiveTiming& timing) {
  timing.start += in.costs->multicast_start;
  timing.network_steps = (in.op == CollectiveOp::all_reduce ? 2 : 1) * levels(in.nodes);
  timing.steps = timing.network_steps * network_step(in, static_cast<double>(in.chunk.chunk));
  const double slowest = std::max(in.inside_seconds_per_byte, in.between_seconds_per_byte),
               n = in.ranks_per_node;
  const int pieces = multicast_pieces(in);
  const double after =
      pieces == 1 ? 1 + 1 / n : 1 - 1 / n;  // what a head returns waits behind what it sends next
  timing.fill = seconds(in.bytes / pieces * (pieces == 1 ? after : 1 + after) / (1 + 1 / n) *
                        in.inside_seconds_per_byte);
  timing.data = seconds(in.bytes * slowest);
}

/// CollNet goes up to the switch that reduces and down again. PAT has a tree for every rank's part.
void time_others(const TimingInput& in, CollectiveTiming& timing) {
  const bool pat = in.algorithm == nccl::Algorithm::pat;
  timing.inner_steps = pat ? 0 : 2 * (in.ranks_per_node - 1);
  timing.network_steps = pat ? std::bit_width(static_cast<unsigned>(in.nodes - 1)) : 2;
  timing.steps = timing.inner_steps * inner_step(in, true) +
                 timing.network_steps * network_step(in, forwarding_unit(in));
  timing.data = seconds(in.bytes * hop_seconds_per_byte(in, 1, timing).slowest());
}

}  // namespace

CollectiveTiming time_of(const TimingInput& input) {
  CollectiveTiming timing;
  timing.start = input.costs->kernel;
  if (input.ranks < 2) return timing;
  if (input.by_channel) timing.start += (input.run.channels - 1) * input.costs->channel_start;
  switch (input.algorithm) {
    case nccl::Algorithm::ring:
      is_chain(input.op) ? time_chain(input, timing) : time_ring(input, timing);
      break;
    case nccl::Algorithm::tree:
      time_tree(input, timing);
      break;
    case nccl::Algorithm::nvls:
    case nccl::Algorithm::nvls_tree:
      time_multicast(input, timing);
      break;
    default:
      time_others(input, timing);
  }
  return timing;
}

ByteRate peer_rate(const CollectiveCosts& costs, const PeerSend& send) {
  const double parts = send.shape.parts;
  const double sharers = std::max(1.0, parts * send.peers / std::max(1, send.channels));
  const ByteRate block =
      send.shape.protocol == Protocol::ll ? of(costs.channel_rate, Protocol::ll) : costs.peer_channel_rate;
  const double fullest = std::max(1.0, static_cast<double>(send.shape.part));
  return block * (std::max(1.0, send.bytes) / (fullest * sharers));
}

Time peer_step(const TimingInput& in, const PeerSend& send) {
  if (send.remote == 0) {
    TimingInput of_protocol = in;
    of_protocol.protocol = send.shape.protocol;
    return inner_step(of_protocol, false);
  }
  const LinkType& link = *in.network;
  const Time small = small_step(in);
  const Time asks = uses_rendezvous(in, send.bytes) ? link.rendezvous_latency : Time::zero();
  const bool injected =
      link.inject_limit.count > 0 && send.bytes <= static_cast<double>(link.inject_limit.count);
  const Time message =
      in.costs->peer_message + message_gap(in) + (injected ? link.inject_latency : Time::zero());
  return seconds(to_seconds(small) * of(in.costs->network_factor, in.protocol)) + in.relayed + asks +
         send.remote * message;
}

namespace {

/// Returns the seconds of a second copy out of the receiver's buffer. Only the last chunk's copy is visible.
double second_copy(const TimingInput& in, const PeerSend& send) {
  if (send.direct || send.shape.protocol != Protocol::simple) return 0;
  const double part = std::min(static_cast<double>(send.shape.part), static_cast<double>(send.shape.chunk));
  return part / in.costs->peer_channel_rate.per_second;
}

/// Returns the seconds of a rank's own part, as far as its blocks serve a peer's part first.
double own_copy(const TimingInput& in, const PeerSend& send) {
  if (send.own <= 0) return 0;
  const double parts = send.shape.parts, blocks = std::max(1, send.channels);
  const double before = std::max(1.0, parts * send.peers / blocks);
  const double shared = std::clamp(parts * (send.peers + 1) / blocks - before, 0.0, 1.0);
  return shared * send.own / (parts * in.costs->copy_rate.per_second);
}

}  // namespace

CollectiveTiming time_of_peers(const TimingInput& input, const PeerSend& send) {
  CollectiveTiming timing;
  timing.start = input.costs->kernel;
  if (input.ranks < 2) return timing;
  timing.start += input.costs->peer_start;
  const int blocks_used = std::min(send.channels, send.shape.parts * send.peers);
  if (input.by_channel) timing.start += (blocks_used - 1) * input.costs->channel_start;
  timing.network_steps = send.remote > 0 ? 1 : 0, timing.inner_steps = 1 - timing.network_steps;
  timing.steps = peer_step(input, send);
  timing.fill = seconds(second_copy(input, send) + own_copy(input, send));
  const double sockets =
      input.sockets_of_pods ? send.bytes * send.peers / input.costs->socket_rate.per_second : 0;
  const double blocks = std::max(send.bytes / peer_rate(*input.costs, send).per_second, sockets);
  const double links = input.bytes * std::max(input.inside_seconds_per_byte, input.between_seconds_per_byte);
  timing.channel_bound = blocks > links, timing.data = seconds(std::max(blocks, links));
  return timing;
}

}  // namespace foretrain
