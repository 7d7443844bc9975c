// The largest power of two of the ranks, and what the others do before and after.
#pragma once

#include <bit>

#include "sim/collective/algorithms/rounds.hpp"

namespace foretrain {

/// Of n places the first 2 extra() form pairs, whose odd place takes part for both (as in MPICH's recursive
/// algorithms).
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int n)
      : size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(n)))), extra_(n - size_) {}
  int size() const { return size_; }
  int extra() const { return extra_; }
  /// log2 size().
  int rounds() const { return std::countr_zero(static_cast<unsigned>(size_)); }
  /// The place of participant v.
  int place(int v) const { return v < extra_ ? 2 * v + 1 : v + extra_; }

  void fold(Rounds& rounds, ChunkRange all) const {
    for (int v = 0; v < extra_; ++v) rounds.send(2 * v, 2 * v + 1, all, Transfer::reduce);
    rounds.next();
  }
  void unfold(Rounds& rounds, ChunkRange all) const {
    for (int v = 0; v < extra_; ++v) rounds.send(2 * v + 1, 2 * v, all, Transfer::copy);
    rounds.next();
  }

 private:
  int size_;
  int extra_;
};

/// ceil(log2 n).
inline int rounds_of(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

}  // namespace foretrain
