// Chunk level: each message of a transfer graph is timed on its own, on links that serve messages in order or
// that share their bandwidth.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// The treatment of several messages on one link.
///
/// serve_in_order: the link serves messages first come, first served, by the moment at which the first byte
/// reaches it. Ties go to the connection added first. Messages are cut through: the first byte goes on to the
/// next link as soon as this link starts the message. A message keeps a link busy for bytes / rate of this
/// link. Its last byte leaves when the slowest link of the route, or the longest queue, permits it. Thus many
/// slow senders do not delay one another on a fast link, and no link idles while a message waits for it.
///
/// fair_share: all messages in flight share the links by max-min fairness, as at flow level. Their rates
/// change when a message starts or ends.
enum class LinkSharing : std::uint8_t { serve_in_order, fair_share };

/// Options of a run at chunk level. `run_ahead` changes only the cost of the run, not its result.
struct ChunkOptions {
  LinkSharing sharing = LinkSharing::serve_in_order;
  /// Earliest moment per rank at which it sends; empty: all ranks start at 0.
  std::span<const Time> start{};
  /// A graph with more messages is refused before the run begins.
  std::uint64_t most_transfers = 20'000'000'000;
  /// Times connections whose links nobody else uses ahead of the clock if true. If false, they take their
  /// turn like all others. The result is the same.
  bool run_ahead = true;
};

/// Result of a run at chunk level. `problem` is empty after a complete run. Otherwise it says what is wrong:
/// needs that wait for each other, a link without bandwidth, too many transfers, or an end beyond 46 days.
/// The times are then those reached so far.
struct ChunkResult {
  /// The latest finish of all ranks.
  Time end{};
  /// Per rank: its last message is sent, and the last message for it has arrived.
  std::vector<Time> finish;
  /// Messages that were timed.
  std::uint64_t transfers = 0;
  std::string problem;
};

/// Simulates all messages of the graph. `capacities` has one rate per link. Requires that ranks, links and
/// connections named by the graph exist. Reports problems in the result and throws nothing of its own.
/// Deterministic to the picosecond. Memory is O(connections + route links), independent of the number of
/// messages.
ChunkResult simulate_chunks(const TransferGraph& graph, std::span<const ByteRate> capacities,
                            const ChunkOptions& options = {});

}  // namespace foretrain
