// A heap with four children per node. It is shallower than a binary heap, and the four children share a cache
// line or two. Push and pop cost O(log4 n). The order of events is total (time, then rank), so the shape of
// the heap never shows in results.
#include "sim/engine/event_queue.hpp"

#include <algorithm>
#include <cassert>

namespace foretrain {

namespace {

constexpr std::size_t kArity = 4;

}  // namespace

/// Sifts up: moves parents down until the event fits.
void EventQueue::to_heap(const Event& event) {
  std::size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!comes_before(event, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

/// Takes the root, then sifts the last event down from the root's place.
Event EventQueue::from_heap() {
  assert(!heap_.empty());
  const Event first = heap_.front();
  const Event moved = heap_.back();
  heap_.pop_back();
  // The hole moves down along the smallest children until the last event fits into it.
  std::size_t hole = 0;
  while (true) {
    const std::size_t children = hole * kArity + 1;
    if (children >= heap_.size()) break;
    const auto begin = heap_.begin() + static_cast<std::ptrdiff_t>(children);
    const auto end = heap_.begin() + static_cast<std::ptrdiff_t>(std::min(children + kArity, heap_.size()));
    const auto best = std::min_element(begin, end, comes_before);
    if (!comes_before(*best, moved)) break;
    heap_[hole] = *best;
    hole = static_cast<std::size_t>(best - heap_.begin());
  }
  if (hole < heap_.size()) heap_[hole] = moved;
  return first;
}

}  // namespace foretrain
