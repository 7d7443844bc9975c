// Lanes of algorithms that go in rounds: in each, ranks exchange one message; what has come is what the next
// ones wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// `width` chunks from `first` on, modulo the chunks of the lanes.
struct ChunkRange {
  int first = 0;
  int width = 1;
};

/// Adds messages to lanes, round by round. A message waits for what reached its sender in an earlier round:
/// for everything, as a program does that ends one round before the next, or only for the chunks it carries,
/// as a graph of operators does. Requires lanes whose ranks, switches and chunks are set.
class Rounds {
 public:
  enum Waits : std::uint8_t { for_all, for_its_chunks };
  explicit Rounds(Lanes& lanes, Waits waits = for_all);
  void next();
  void send(int from, int to, ChunkRange chunks, Transfer::Combine combine);
  /// One message with the chunks of the rows that have bit `digit`, as Lane says.
  void send_digit(int from, int to, int digit, int width);

 private:
  struct Received {
    std::uint32_t lane;
    ChunkRange chunks;
  };
  void add(Lane lane, ChunkRange chunks);
  bool overlap(ChunkRange a, ChunkRange b) const;

  Lanes& lanes_;
  Waits waits_;
  std::vector<std::vector<Received>> received_;  ///< by rank, of earlier rounds
  std::vector<std::uint32_t> now_;               ///< lanes of this round
  std::vector<ChunkRange> chunks_now_;
};

}  // namespace foretrain
