// The part of the rank at place j starts at j and takes n - 1 steps around the ring; each rank keeps a copy.
#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/algorithms/ring_order.hpp"

namespace foretrain {

Schedule ring_all_gather(std::span<const int> order, int root, int) {
  const RingOrder ring(order);
  const int n = ring.size();
  Schedule schedule{CollectiveOp::all_gather, n, n, root, {}};
  for (int step = 0; step < n - 1; ++step) {
    for (int place = 0; place < n; ++place) {
      schedule.transfers.push_back({step, ring.rank(place), ring.rank(place + 1), ring.rank(place - step), Transfer::copy});
    }
  }
  return schedule;
}

}  // namespace foretrain
