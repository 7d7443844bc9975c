// A collective as a few lanes of equal messages: the one form of a schedule that all fidelities time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/schedule.hpp"
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// Message k of a lane may start when message k - lag of lane `lane` has arrived. Before the first message
/// there is nothing to wait for; k - lag beyond the last one means the last one.
struct LaneNeed {
  std::uint32_t lane = 0;
  std::int32_t lag = 0;
  friend bool operator==(const LaneNeed&, const LaneNeed&) = default;
};

/// One direction between two ranks, over which `messages` messages of equal size follow each other and arrive
/// in order. Message k carries the `width` chunks base + (first + k stride + i) mod wrap, i = 0 … width - 1.
struct Lane {
  int from = 0;
  int to = 0;
  int messages = 1;
  int first = 0, stride = 1, width = 1;
  int base = 0, wrap = 1;
  int first_copy = 0;  ///< messages from this one on overwrite, earlier ones add
  /// Not negative (alltoall by digits): the one message carries, of every row d of chunks that has this bit
  /// set, the chunk of place first - (d mod 2^digit); width counts those rows.
  int digit = -1;
  std::uint32_t first_need = 0;
  std::uint32_t needs = 0;
  friend bool operator==(const Lane&, const Lane&) = default;
};

/// A collective. Chunks, order, root and switches as in Schedule. A rank that sends a chunk sends what it had
/// at the start together with what the needs of the message say has arrived: data that comes earlier than
/// anybody waits for it stays in a buffer. Memory: lanes and needs only; a ring of n ranks has n lanes,
/// however many messages.
struct Lanes {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 1;
  int chunks = 1;
  int root = 0;
  int switches = 0;
  std::vector<int> order{};
  std::vector<Lane> lanes{};
  std::vector<LaneNeed> needs{};  ///< those of one lane follow each other

  /// Chunk i of message k.
  int chunk(const Lane& lane, int message, int i) const;
  /// Bytes of a chunk per byte of size as nccl-tests counts it: 1 / chunks; ranks / chunks for alltoall and
  /// sendrecv, where the size is one rank's.
  double chunk_share() const;
  /// Bytes of one message of the lane, of the same.
  double message_share(const Lane& lane) const { return lane.width * chunk_share(); }
  /// The message that message k of a lane waits for, or -1.
  int awaited(const LaneNeed& need, int message) const;
};

/// Appends a lane that waits for `needs`; returns its index.
std::uint32_t add_lane(Lanes& lanes, Lane lane, const std::vector<LaneNeed>& needs);

/// To wait for the last message of a lane.
LaneNeed last_of(const Lanes& lanes, std::uint32_t lane);

/// What the lanes ask of machine and network; bytes per byte of size, "most" over the ranks.
struct LaneCosts {
  int hops = 0;         ///< messages on the longest chain of needs: latencies one after the other
  int steps = 0;        ///< the same when each message also waits until the lane's previous one has arrived
  double sent = 0;      ///< by the rank that sends most
  double received = 0;  ///< by the rank that receives most
  double pair = 0;      ///< from one rank (or switch) to one other, at most
  double message = 0;   ///< the largest message
  double chain = 0;     ///< the chain of `steps` that carries most
  int messages = 0;     ///< sent, or received, by the rank that does most of it
  double added = 0;     ///< received and added to own data, by the rank that adds most
  double total = 0;     ///< by all ranks and switches
  friend bool operator==(const LaneCosts&, const LaneCosts&) = default;
};

/// Counts them message by message. Requires lanes that do not wait for themselves.
LaneCosts count_costs(const Lanes& lanes);

/// What goes from one rank (or switch) to another, all lanes together, per byte of size: the flows of the
/// collective.
struct PairShare {
  int from = 0;
  int to = 0;
  double share = 0;
  friend bool operator==(const PairShare&, const PairShare&) = default;
};

/// One entry per pair that talks, in the order of from, then to.
std::vector<PairShare> pair_shares(const Lanes& lanes);

/// Every transfer at the earliest step its needs and its lane allow; where a message would arrive before
/// another one that does not wait for it has left with the same chunk, it arrives in the step of that one.
/// Requires lanes that do not wait for themselves.
Schedule expand(const Lanes& lanes);

/// Proves the post-condition (see disprove of a Schedule) for every order of messages that the needs allow: a
/// message carries what the needs guarantee, and two messages into one chunk, one of which overwrites, must
/// be in order. Returns the first thing that is wrong.
std::optional<std::string> disprove(const Lanes& lanes);

/// The rest of a division that is never negative. Requires modulus > 0.
int wrapped(int value, int modulus);

// Lanes as transfers over the links of a cluster, for the chunk level.

/// What carries the messages of a lane.
struct LaneCarrier {
  std::vector<LinkId> route;
  Time latency{};         ///< from the last byte sent until the receiver can use the message
  Time overhead{};        ///< the sender is busy this much longer with each message
  double wire_bytes = 1;  ///< on the wire per byte of data
};

/// Adds one connection per lane to the graph, with messages of `bytes` (the size as nccl-tests counts it)
/// times the lane's share. Ranks of the lanes are ranks of the graph, switches those from lanes.ranks on; the
/// graph gets at least as many. Several collectives may be added to one graph: they run at once. Calls
/// `carrier` once per lane.
void add_transfers(TransferGraph& graph, const Lanes& lanes, double bytes,
                   const std::function<LaneCarrier(int from, int to)>& carrier);

}  // namespace foretrain
