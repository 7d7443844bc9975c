// Pipelined: while the second rank passes on chunk c, the root sends it chunk c + 1. The edge back into the root stays idle.
#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/algorithms/ring_order.hpp"

namespace foretrain {

Schedule ring_broadcast(std::span<const int> order, int root, int k) {
  const RingOrder ring(order);
  const int first = ring.place_of(root);
  Schedule schedule{CollectiveOp::broadcast, ring.size(), k, root, {}};
  for (int chunk = 0; chunk < k; ++chunk) {
    for (int hop = 0; hop < ring.size() - 1; ++hop) {
      schedule.transfers.push_back({chunk + hop, ring.rank(first + hop), ring.rank(first + hop + 1), chunk, Transfer::copy});
    }
  }
  return schedule;
}

}  // namespace foretrain
