// The event queue of the chunk level: a moment and an index in 16 bytes, in order of time, ties in order of
// index.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// A time with the index of the connection that is due then. Equal times are ordered by index, so that runs
/// are reproducible.
struct Moment {
  Time time{};
  std::uint32_t index = 0;
  friend bool operator<(const Moment& a, const Moment& b) {
    return a.time != b.time ? a.time < b.time : a.index < b.index;
  }
  friend bool operator==(const Moment&, const Moment&) = default;
};

/// A 4-ary heap of moments; one cache line holds the four children. It is defined in the header because its
/// callers' loops are short and run often. A ladder queue is faster in isolation
/// (tests/speed/queue_speed.cpp), but not inside the simulator, where most pushes are near the front. Push
/// and pop cost O(log n).
class MomentQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Moment& top() const { return heap_.front(); }
  void push(const Moment& moment);
  Moment pop();

 private:
  static constexpr std::size_t kArity = 4;
  void sink(const Moment& moment);
  std::vector<Moment> heap_;
};

/// Sifts up: moves parents down until the moment fits.
inline void MomentQueue::push(const Moment& moment) {
  std::size_t hole = heap_.size();
  heap_.push_back(moment);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!(moment < heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = moment;
}

/// Removes and returns the earliest moment. Requires that the queue is not empty.
inline Moment MomentQueue::pop() {
  assert(!heap_.empty());
  const Moment first = heap_.front(), last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sink(last);
  return first;
}

/// Sifts `moment` down from the root's place.
inline void MomentQueue::sink(const Moment& moment) {
  Moment* const heap = heap_.data();
  const std::size_t size = heap_.size();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = hole * kArity + 1) {
    std::size_t least = child;
    const std::size_t end = child + kArity < size ? child + kArity : size;
    for (std::size_t other = child + 1; other < end; ++other)
      least = heap[other] < heap[least] ? other : least;
    if (!(heap[least] < moment)) break;
    heap[hole] = heap[least];
    hole = least;
  }
  heap[hole] = moment;
}

}  // namespace foretrain
