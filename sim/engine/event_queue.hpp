// The clock's event queue: moments in order, ties in the order of their rank.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// A moment at which something is due. Equal times come by ascending `rank`, so that a run does not depend on
/// the heap's history.
struct Event {
  Time time{};
  std::uint64_t rank = 0;
  std::uint32_t payload = 0;
};

inline bool comes_before(const Event& a, const Event& b) {
  return a.time != b.time ? a.time < b.time : a.rank < b.rank;
}

/// A 4-ary heap of events, and one in the hand: what is due soon is often taken again before anything else is
/// added, and then never enters the heap. No allocation per event once it has grown.
class EventQueue {
 public:
  bool empty() const { return !in_hand_ && heap_.empty(); }
  std::size_t size() const { return heap_.size() + (in_hand_ ? 1 : 0); }
  const Event& top() const { return hand_is_next() ? hand_ : heap_.front(); }
  void push(const Event& event) {
    if (in_hand_) return to_heap(event);
    hand_ = event, in_hand_ = true;
  }
  Event pop() {
    if (!hand_is_next()) return from_heap();
    in_hand_ = false;
    return hand_;
  }
  void reserve(std::size_t events) { heap_.reserve(events); }

 private:
  bool hand_is_next() const { return in_hand_ && (heap_.empty() || comes_before(hand_, heap_.front())); }
  void to_heap(const Event& event);
  Event from_heap();

  Event hand_;
  bool in_hand_ = false;
  std::vector<Event> heap_;
};

}  // namespace foretrain
