// A reduce-scatter, after which every rank has the sum of its own part, and an all-gather of the parts.
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

Schedule ring_all_reduce(std::span<const int> order, int root, int k) {
  Schedule schedule = ring_reduce_scatter(order, root, k);
  const int first = schedule.steps();
  schedule.op = CollectiveOp::all_reduce;
  for (Transfer transfer : ring_all_gather(order, root, k).transfers) {
    transfer.step += first;
    schedule.transfers.push_back(transfer);
  }
  return schedule;
}

}  // namespace foretrain
