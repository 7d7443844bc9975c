// Chunk level: every message of a transfer graph is timed by itself, on links that serve in order or share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// What a link does with several messages at once.
///
/// serve_in_order: first come, first served, by the moment the first byte reaches the link (ties: the
/// connection added first). Messages are cut through: the first byte goes on to the next link as soon as this
/// one takes the message up, a link is taken for bytes / its own rate, and the last byte leaves when the
/// slowest link of the route or the longest queue lets it. So many slow senders do not hold each other up on
/// a fast link, and no link idles while a message waits at it.
///
/// fair_share: all messages on their way share the links max-min, as in flow mode; their rates change when
/// one starts or ends.
enum class LinkSharing : std::uint8_t { serve_in_order, fair_share };

/// Options of a run at chunk level. Times of start and the limit of transfers are inputs; `run_ahead` changes
/// only the cost.
struct ChunkOptions {
  LinkSharing sharing = LinkSharing::serve_in_order;
  std::span<const Time> start{};                  ///< per rank: sends nothing before; empty: all at 0
  std::uint64_t most_transfers = 20'000'000'000;  ///< more than these are refused, not begun
  /// Connections whose links nobody else uses are timed ahead of the clock. False: they wait their turn like
  /// all; the answer is the same.
  bool run_ahead = true;
};

/// `problem` is empty when all went well; otherwise it says what is wrong (needs that wait for each other, a
/// link without bandwidth, too many transfers, an end beyond 46 days), and the times are those reached.
struct ChunkResult {
  Time end{};                ///< the latest finish
  std::vector<Time> finish;  ///< per rank: its last message is sent, and the last one for it has arrived
  std::uint64_t transfers = 0;
  std::string problem;
};

/// Requires: ranks, links and connections named by the graph exist. Deterministic, to the picosecond. Memory:
/// O(connections + route links), not O(transfers).
ChunkResult simulate_chunks(const TransferGraph& graph, std::span<const ByteRate> capacities,
                            const ChunkOptions& options = {});

}  // namespace foretrain
