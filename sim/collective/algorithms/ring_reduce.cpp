// Pipelined: each chunk starts at the rank after the root and collects a contribution per hop. The edge out of the root stays idle.
#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/algorithms/ring_order.hpp"

namespace foretrain {

Schedule ring_reduce(std::span<const int> order, int root, int k) {
  const RingOrder ring(order);
  const int first = ring.place_of(root) + 1;
  Schedule schedule{CollectiveOp::reduce, ring.size(), k, root, {}};
  for (int chunk = 0; chunk < k; ++chunk) {
    for (int hop = 0; hop < ring.size() - 1; ++hop) {
      schedule.transfers.push_back({chunk + hop, ring.rank(first + hop), ring.rank(first + hop + 1), chunk, Transfer::reduce});
    }
  }
  return schedule;
}

}  // namespace foretrain
