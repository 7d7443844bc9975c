// Lanes of algorithms that proceed in rounds. In each round ranks exchange one message; later messages wait
// for what has come.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// `width` chunks from `first` on, modulo the number of chunks of the lanes.
struct ChunkRange {
  int first = 0;
  int width = 1;
};

/// Builder of lanes, round by round. A message waits for what reached its sender in an earlier round: for
/// everything, like a program that ends one round before the next, or only for the chunks it carries, like a
/// graph of operators. Requires lanes whose ranks, switches and chunks are set. Refers to the lanes for its
/// whole life.
class Rounds {
 public:
  /// The messages of earlier rounds that a message waits for.
  enum Waits : std::uint8_t { for_all, for_its_chunks };
  explicit Rounds(Lanes& lanes, Waits waits = for_all);
  /// Ends the round: its messages count as received from here on.
  void next();
  /// Adds a message with these chunks to the round.
  void send(int from, int to, ChunkRange chunks, Transfer::Combine combine);
  /// Adds a message with the chunks of the rows that have bit `digit`, as described at Lane.
  void send_digit(int from, int to, int digit, int width);

 private:
  /// A message that a rank has received, and its chunks.
  struct Received {
    std::uint32_t lane;
    ChunkRange chunks;
  };
  void add(Lane lane, ChunkRange chunks);
  /// Returns whether two ranges, which may wrap around, have a chunk in common.
  bool overlap(ChunkRange a, ChunkRange b) const;

  Lanes& lanes_;
  Waits waits_;
  /// Messages of earlier rounds by receiver.
  std::vector<std::vector<Received>> received_;
  /// Lanes of this round.
  std::vector<std::uint32_t> now_;
  std::vector<ChunkRange> chunks_now_;
};

}  // namespace foretrain
