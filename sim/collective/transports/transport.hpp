// Collectives that do not run over NCCL (gloo, MPI, TensorFlow's gRPC ring): the costs of their messages and
// the choice of their algorithms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "sim/base/units.hpp"
#include "sim/collective/algorithms/family.hpp"
#include "sim/collective/lanes.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// The way in which a library moves messages between processes over one kind of link. A rate or limit of 0
/// means that there is none. Files: topologies/transports/*.toml; keys: transport_keys().
struct Transport {
  /// A name in transport_libraries(), whose rule chooses the algorithm.
  std::string library;
  /// Software time of sender and receiver for one message, beyond the link's latency.
  Time message_overhead{};
  /// Bytes sent in addition with every message.
  Bytes header{};
  /// Share of the link's bandwidth that enough streams reach.
  double wire_efficiency = 1;
  /// Highest rate of one connection.
  ByteRate stream_rate{};
  /// Connections between two ranks.
  int streams = 1;
  /// Larger messages use the rendezvous protocol, which adds a round trip; 0: no message does.
  Bytes eager_limit{};
  /// Software time of the rendezvous, beyond the round trip.
  Time rendezvous_overhead{};
  /// Rate of copies into and out of bounce buffers, for messages without a rendezvous.
  ByteRate eager_copy_rate{};
  /// Rate of work on every byte on the host: serialising, copying.
  ByteRate host_rate{};
  /// Rate of adding received bytes to own ones.
  ByteRate add_rate{};
  /// Pipelined algorithms cut parts into messages of at most this size.
  Bytes segment{};
  /// Least (gloo) or largest (gRPC ring) number of messages per part.
  int segments = 1;
  friend bool operator==(const Transport&, const Transport&) = default;
};

/// A key of a transport file.
struct TransportKey {
  std::string_view name;
  std::variant<std::string Transport::*, Time Transport::*, Bytes Transport::*, ByteRate Transport::*,
               double Transport::*, int Transport::*>
      field;
  std::string_view meaning;
};

/// Returns all keys of a transport file.
std::span<const TransportKey> transport_keys();

/// Returns gloo over TCP as PyTorch and Horovod use it: topologies/transports/gloo_tcp.toml, where each
/// figure has its source.
Transport gloo_over_tcp();

/// The choice of a library for a collective.
struct TransportChoice {
  /// The operation that runs; another one than requested if the library lacks that.
  CollectiveOp runs_as = CollectiveOp::all_reduce;
  /// The family in the algorithm catalog for `runs_as`; none: the library cannot do it.
  std::optional<AlgorithmFamily> family{};
  int pieces = 1;
  std::string why;
};

/// The memory that messages are sent from and received into. Copies between GPUs and hosts are not part of a
/// collective.
enum class DataPlace : std::uint8_t { host_memory, gpu_memory };

/// A library: its name and its rule. The rule requires ranks >= 2 and a size as nccl-tests counts it.
struct TransportLibrary {
  std::string_view name;
  std::string_view summary;
  TransportChoice (*choose)(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
  DataPlace data = DataPlace::host_memory;
};

/// Returns all libraries.
std::span<const TransportLibrary> transport_libraries();

/// Returns the library of this name, or nullptr.
const TransportLibrary* find_transport_library(std::string_view name);

/// The plan of a collective between ranks that are one link apart.
struct TransportPlan {
  TransportChoice choice;
  /// Sequential messages.
  int hops = 0;
  /// Messages that one rank's software handles in sequence.
  int messages = 0;
  /// The largest message, without its header.
  Bytes message{};
  /// Such a message uses the rendezvous protocol.
  bool rendezvous = false;
  /// Latency of one message: link, and round trip of the rendezvous.
  Time latency{};
  /// Software time of one message.
  Time overhead{};
  /// Rate of payload over the link while it flows.
  ByteRate rate{};
  /// Seconds per byte of payload on the host, besides the wire; adding is spread over all payload.
  double host_seconds_per_byte = 0;
  /// Bytes through the rank that moves most, in its busier direction, or along the longest chain.
  double busiest_bytes = 0;
  /// Time on an idle machine.
  Time alone{};
};

/// Returns the library's choice. It does not depend on the link.
TransportChoice choose(const Transport& transport, CollectiveOp op, Bytes size, int ranks);

/// Returns the plan that adds up the `costs` of a choice.
///   Whole messages: alone = hops x latency + messages x overhead + busiest bytes x per byte.
///   With P pieces of x = overhead + message x per byte, each hop of a part takes max(P x, x + latency)
///   instead.
/// Here "per byte" is 1/rate + host. If messages are pipelined (pieces > 1) it is the larger of the two,
/// because one message moves while the other is worked on. Requires a known library and a positive bandwidth.
TransportPlan plan(const Transport& transport, const TransportChoice& choice, const LaneCosts& costs,
                   Bytes size, Time link_latency, ByteRate link_bandwidth);
/// Returns the plan of the library's choice. One rank, or an operation that the library cannot do, takes no
/// time.
TransportPlan plan(const Transport& transport, CollectiveOp op, Bytes size, int ranks, Time link_latency,
                   ByteRate link_bandwidth);

}  // namespace foretrain
