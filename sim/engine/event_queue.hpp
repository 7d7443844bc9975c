// The clock's agenda: moments in order, ties in the order of their rank.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// A moment at which something is due. Equal times come by ascending `rank`, so that a run does not depend on the heap's history.
struct Event {
  Time time{};
  std::uint64_t rank = 0;
  std::uint32_t payload = 0;
};

/// A 4-ary heap of events: no allocation per event once it has grown.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Event& top() const { return heap_.front(); }
  void push(const Event& event);
  Event pop();
  void reserve(std::size_t events) { heap_.reserve(events); }

 private:
  std::vector<Event> heap_;
};

}  // namespace foretrain
