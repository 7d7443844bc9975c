// The largest power of two among the ranks, and the part of the other ranks before and after.
#pragma once

#include <bit>

#include "sim/collective/algorithms/rounds.hpp"

namespace foretrain {

/// A core of 2^k participants among n places. The first 2 extra() places form pairs, whose odd place takes
/// part for both (as in MPICH's recursive algorithms).
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int n)
      : size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(n)))), extra_(n - size_) {}
  int size() const { return size_; }
  int extra() const { return extra_; }
  /// Returns log2 size().
  int rounds() const { return std::countr_zero(static_cast<unsigned>(size_)); }
  /// Returns the place of participant v.
  int place(int v) const { return v < extra_ ? 2 * v + 1 : v + extra_; }

  /// Adds a round in which the even place of each pair gives its data to the odd one.
  void fold(Rounds& rounds, ChunkRange all) const {
    for (int v = 0; v < extra_; ++v) rounds.send(2 * v, 2 * v + 1, all, Transfer::reduce);
    rounds.next();
  }
  /// Adds a round in which the odd place of each pair sends the result back.
  void unfold(Rounds& rounds, ChunkRange all) const {
    for (int v = 0; v < extra_; ++v) rounds.send(2 * v + 1, 2 * v, all, Transfer::copy);
    rounds.next();
  }

 private:
  int size_;
  int extra_;
};

/// Returns ceil(log2 n). Requires n >= 1.
inline int rounds_of(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

}  // namespace foretrain
