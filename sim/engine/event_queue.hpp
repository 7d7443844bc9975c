// The event queue of the executor: events in order of time, ties in order of rank.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// A moment at which something is due. Events of equal time come in ascending `rank`, so that a run does not
/// depend on the history of the heap.
struct Event {
  Time time{};
  std::uint64_t rank = 0;
  /// The id of the task that the event is for.
  std::uint32_t payload = 0;
};

/// The total order of events: time, then rank.
inline bool comes_before(const Event& a, const Event& b) {
  return a.time != b.time ? a.time < b.time : a.rank < b.rank;
}

/// A priority queue: a 4-ary heap and one event in the hand, outside the heap. An event that is due soon is
/// often taken again before another is added; it then never enters the heap. Push and pop cost O(log n), and
/// nothing is allocated once the queue has grown. Not thread-safe.
class EventQueue {
 public:
  bool empty() const { return !in_hand_ && heap_.empty(); }
  std::size_t size() const { return heap_.size() + (in_hand_ ? 1 : 0); }
  /// Requires that the queue is not empty.
  const Event& top() const { return hand_is_next() ? hand_ : heap_.front(); }
  void push(const Event& event) {
    if (in_hand_) return to_heap(event);
    hand_ = event, in_hand_ = true;
  }
  /// Removes and returns the earliest event. Requires that the queue is not empty.
  Event pop() {
    if (!hand_is_next()) return from_heap();
    in_hand_ = false;
    return hand_;
  }
  void reserve(std::size_t events) { heap_.reserve(events); }

 private:
  /// Returns whether the event in the hand comes before the heap's first one.
  bool hand_is_next() const { return in_hand_ && (heap_.empty() || comes_before(hand_, heap_.front())); }
  void to_heap(const Event& event);
  Event from_heap();

  Event hand_;
  bool in_hand_ = false;
  std::vector<Event> heap_;
};

}  // namespace foretrain
