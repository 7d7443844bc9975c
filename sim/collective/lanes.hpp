// A collective as a few lanes of equal messages: the form of a schedule that all fidelities time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/schedule.hpp"
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// A wait of a lane. Message k may start when message k - lag of lane `lane` has arrived. If k < lag there is
/// nothing to wait for; if k - lag lies beyond the last message, the last one counts.
struct LaneNeed {
  std::uint32_t lane = 0;
  std::int32_t lag = 0;
  friend bool operator==(const LaneNeed&, const LaneNeed&) = default;
};

/// A direction between two ranks over which `messages` messages of equal size follow each other and arrive in
/// order. Message k carries the `width` chunks base + (first + k stride + i) mod wrap, for i = 0 … width - 1.
struct Lane {
  int from = 0;
  int to = 0;
  int messages = 1;
  int first = 0, stride = 1, width = 1;
  int base = 0, wrap = 1;
  /// Messages from this one on overwrite; earlier ones add.
  int first_copy = 0;
  /// Marks, if not negative, a lane of alltoall by digits with one message. Of every row d of chunks that has
  /// this bit set, it carries the chunk of place first - (d mod 2^digit). `width` counts those rows.
  int digit = -1;
  /// Its needs are Lanes::needs[first_need .. first_need + needs).
  std::uint32_t first_need = 0;
  std::uint32_t needs = 0;
  friend bool operator==(const Lane&, const Lane&) = default;
};

/// A collective as lanes. Chunks, order, root and switches are as in Schedule.
///
/// A rank that sends a chunk sends what it had at the start, together with what the needs of the message say
/// has arrived. Data that arrives before any message waits for it stays in a buffer. Memory is that of lanes
/// and needs only: a ring of n ranks has n lanes for any number of messages.
struct Lanes {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 1;
  int chunks = 1;
  int root = 0;
  int switches = 0;
  std::vector<int> order{};
  std::vector<Lane> lanes{};
  /// Needs of one lane follow each other.
  std::vector<LaneNeed> needs{};

  /// Returns chunk i of message `message`.
  int chunk(const Lane& lane, int message, int i) const;
  /// Returns the bytes of a chunk per byte of size as nccl-tests counts it: 1 / chunks, or ranks / chunks for
  /// alltoall and sendrecv, where the size is that of one rank.
  double chunk_share() const;
  /// Returns the bytes of one message of the lane per byte of size.
  double message_share(const Lane& lane) const { return lane.width * chunk_share(); }
  /// Returns the message of the needed lane that `message` waits for, or -1.
  int awaited(const LaneNeed& need, int message) const;
};

/// Appends a lane that waits for `needs`. Returns its index.
std::uint32_t add_lane(Lanes& lanes, Lane lane, const std::vector<LaneNeed>& needs);

/// Returns the need for the last message of a lane.
LaneNeed last_of(const Lanes& lanes, std::uint32_t lane);

/// The demands of the lanes on machine and network, in bytes per byte of size. Maxima are over the ranks.
struct LaneCosts {
  /// Messages on the longest chain of needs: the number of sequential latencies.
  int hops = 0;
  /// The same if each message also waits until the previous message of its lane has arrived.
  int steps = 0;
  /// Bytes sent by the rank that sends most.
  double sent = 0;
  /// Bytes received by the rank that receives most.
  double received = 0;
  /// Most bytes from one rank (or switch) to another one.
  double pair = 0;
  /// Bytes of the largest message.
  double message = 0;
  /// Bytes on the chain of `steps` that carries most.
  double chain = 0;
  /// Messages sent, or received, by the rank that does most of it.
  int messages = 0;
  /// Bytes received and added to own data, by the rank that adds most.
  double added = 0;
  /// Bytes sent by all ranks and switches.
  double total = 0;
  friend bool operator==(const LaneCosts&, const LaneCosts&) = default;
};

/// Counts the costs message by message, in O(messages + needs). Requires lanes that do not wait for
/// themselves.
LaneCosts count_costs(const Lanes& lanes);

/// The bytes from one rank (or switch) to another over all lanes, per byte of size: a flow of the collective.
struct PairShare {
  int from = 0;
  int to = 0;
  double share = 0;
  friend bool operator==(const PairShare&, const PairShare&) = default;
};

/// Returns one entry for each pair that exchanges data, in the order of from, then to.
std::vector<PairShare> pair_shares(const Lanes& lanes);

/// Returns the schedule with every transfer at the earliest step that its needs and its lane allow. Suppose
/// that a message would arrive before another message, which does not wait for it, has left with the same
/// chunk. Then it arrives in the step of that message. Requires lanes that do not wait for themselves.
Schedule expand(const Lanes& lanes);

/// Proves the post-condition (see disprove of a Schedule) for every order of messages that the needs allow. A
/// message carries what the needs guarantee. Two messages into one chunk, of which one overwrites, must be
/// ordered. Returns the first fault found, or nothing.
std::optional<std::string> disprove(const Lanes& lanes);

/// Returns the remainder of a division, which is never negative. Requires modulus > 0.
int wrapped(int value, int modulus);

/// The route and the times of the messages of a lane.
struct LaneCarrier {
  std::vector<LinkId> route;
  /// Time from the last byte sent until the receiver can use the message.
  Time latency{};
  /// Time for which the sender is busy in addition with each message.
  Time overhead{};
  /// Bytes on the wire per byte of data.
  double wire_bytes = 1;
};

/// Adds one connection per lane to the graph, for the chunk level. Its messages have `bytes` (the size as
/// nccl-tests counts it) times the lane's share. Ranks of the lanes are ranks of the graph, and switches
/// those from lanes.ranks on; the graph gets at least that many. Several collectives may be added to one
/// graph: they run concurrently. Calls `carrier` once per lane.
void add_transfers(TransferGraph& graph, const Lanes& lanes, double bytes,
                   const std::function<LaneCarrier(int from, int to)>& carrier);

}  // namespace foretrain
