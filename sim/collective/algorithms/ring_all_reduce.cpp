// Ring all-reduce: a reduce-scatter around the ring, then an all-gather around it (Patarasuk & Yuan 2009). Every edge carries
// 2 (n - 1) / n of the message in 2 (n - 1) steps.
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

namespace {

Schedule schedule(int ranks) {
  Schedule s{CollectiveOp::all_reduce, ranks, ranks, 0, {}};
  append_ring_reduce_scatter(s, 0);
  append_ring_all_gather(s, ranks - 1);
  return s;
}

RingTraffic traffic(int ranks) { return {2.0 * (ranks - 1) / ranks, 2 * (ranks - 1)}; }

}  // namespace

const CollectiveEntry kRingAllReduce{"ring_all_reduce", "every rank gets the sum: reduce-scatter, then all-gather around the ring", CollectiveOp::all_reduce, schedule, traffic};

}  // namespace foretrain
