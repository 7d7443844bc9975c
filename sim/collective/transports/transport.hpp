// Collectives that do not run over NCCL: gloo, MPI, TensorFlow's gRPC ring; what their messages cost and
// which algorithm they take.
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

/// How a library moves messages between processes over one kind of link. A rate or limit of 0 means that
/// there is none. Files: topologies/transports/*.toml; keys: transport_keys().
struct Transport {
  std::string library;         ///< a name in transport_libraries(): who chooses the algorithm
  Time message_overhead{};     ///< software of sender and receiver for one message, beyond the link's latency
  Bytes header{};              ///< sent with every message
  double wire_efficiency = 1;  ///< of the link's bandwidth, with enough streams
  ByteRate stream_rate{};      ///< the most one connection carries
  int streams = 1;             ///< connections between two ranks
  Bytes eager_limit{};         ///< larger messages ask first: a round trip more; 0: nobody asks
  Time rendezvous_overhead{};  ///< software of asking, beyond the round trip
  ByteRate eager_copy_rate{};  ///< into and out of bounce buffers, for messages that do not ask
  ByteRate host_rate{};        ///< of work on every byte on the host: serialising, copying
  ByteRate add_rate{};         ///< of adding received bytes to own ones
  Bytes segment{};             ///< pipelined algorithms cut parts into messages of at most this size
  int segments = 1;            ///< and at least (gloo) or at most (gRPC ring) so many per part
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

std::span<const TransportKey> transport_keys();

/// gloo over TCP as PyTorch and Horovod use it: topologies/transports/gloo_tcp.toml, where each figure has
/// its source.
Transport gloo_over_tcp();

/// What a library does with a collective.
struct TransportChoice {
  CollectiveOp runs_as = CollectiveOp::all_reduce;  ///< not the op asked for where the library has none of it
  /// In the algorithm catalog with op `runs_as`; none: the library cannot.
  std::optional<AlgorithmFamily> family{};
  int pieces = 1;
  std::string why;
};

/// What messages are sent from and received into. Copies between GPUs and hosts are no part of a collective.
enum class DataPlace : std::uint8_t { host_memory, gpu_memory };

/// A library: a name and its rule. Requires ranks >= 2 and size as nccl-tests counts it.
struct TransportLibrary {
  std::string_view name;
  std::string_view summary;
  TransportChoice (*choose)(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
  DataPlace data = DataPlace::host_memory;
};

std::span<const TransportLibrary> transport_libraries();

/// Null when there is none of this name.
const TransportLibrary* find_transport_library(std::string_view name);

/// How a collective will run between ranks that are one link apart.
struct TransportPlan {
  TransportChoice choice;
  int hops = 0;                      ///< messages one after the other
  int messages = 0;                  ///< that some rank's software handles one after the other
  Bytes message{};                   ///< the largest, without header
  bool rendezvous = false;           ///< such a message asks first
  Time latency{};                    ///< of one message: link, round trip of asking
  Time overhead{};                   ///< of one message: software
  ByteRate rate{};                   ///< payload over the link while it flows
  double host_seconds_per_byte = 0;  ///< of payload, spent beside the wire; adding is spread over all payload
  /// Through the rank that moves most, in its busier direction, or down the longest chain.
  double busiest_bytes = 0;
  Time alone{};  ///< on an idle machine
};

/// What the library takes, over a link without latency or limit as over any other.
TransportChoice choose(const Transport& transport, CollectiveOp op, Bytes size, int ranks);

/// Adds up what `costs`, those of the choice, take:
///   alone = hops x latency + messages x overhead + busiest bytes x per byte, for whole messages;
///   with P pieces of x = overhead + message x per byte, each hop of a part takes max(P x, x + latency)
///   instead; per byte = 1/rate + host, or the larger of the two when messages are pipelined (pieces > 1):
///   one flows while the other is worked on.
/// Requires a known library and a positive bandwidth.
TransportPlan plan(const Transport& transport, const TransportChoice& choice, const LaneCosts& costs,
                   Bytes size, Time link_latency, ByteRate link_bandwidth);
/// The same for what the library chooses. One rank, or an op that the library cannot do: nothing, in no time.
TransportPlan plan(const Transport& transport, CollectiveOp op, Bytes size, int ranks, Time link_latency,
                   ByteRate link_bandwidth);

}  // namespace foretrain
