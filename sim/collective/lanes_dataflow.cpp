// A message starts after the previous message of its lane has started, and after all messages that it waits
// for have arrived.
#include "sim/collective/lanes_dataflow.hpp"

namespace foretrain {

Dataflow::Dataflow(const Lanes& lanes) : lanes_(lanes) {
  for (std::uint32_t lane = 0; lane < lanes.lanes.size(); ++lane) {
    first_.push_back(lane_of_.size());
    lane_of_.insert(lane_of_.end(), static_cast<std::size_t>(lanes.lanes[lane].messages), lane);
  }
  find_order();
}

/// Topological sort by counting the messages that each one still waits for (Kahn's algorithm).
void Dataflow::find_order() {
  std::vector<std::vector<std::size_t>> waiting(size());
  std::vector<int> missing(size());
  const auto wait_for = [&](std::size_t message, std::size_t awaited) {
    waiting[awaited].push_back(message);
    ++missing[message];
  };
  for (std::size_t m = 0; m < size(); ++m) {
    if (index(m) > 0) wait_for(m, m - 1);
    for_awaited(m, [&](std::size_t awaited) { wait_for(m, awaited); });
  }
  for (std::size_t m = 0; m < size(); ++m) {
    if (missing[m] == 0) order_.push_back(m);
  }
  for (std::size_t next = 0; next < order_.size(); ++next) {
    for (const std::size_t m : waiting[order_[next]]) {
      if (--missing[m] == 0) order_.push_back(m);
    }
  }
}

std::vector<MessageSet> Dataflow::arrived() const {
  std::vector<MessageSet> sets(size(), MessageSet(size()));
  for (const std::size_t m : order_) {
    if (index(m) > 0) sets[m].add(sets[m - 1]);
    for_awaited(m, [&](std::size_t awaited) {
      sets[m].add(sets[awaited]);
      // Messages arrive in order, so the earlier ones of that lane have arrived too.
      for (std::size_t earlier = first_[lane(awaited)]; earlier <= awaited; ++earlier) sets[m].add(earlier);
    });
  }
  return sets;
}

}  // namespace foretrain
