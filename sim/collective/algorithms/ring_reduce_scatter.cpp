// Ring reduce-scatter: chunk c starts at rank c + 1, collects every contribution on its way round and ends at rank c.
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

void append_ring_reduce_scatter(Schedule& s, int first_step) {
  for (int step = 0; step < s.ranks - 1; ++step) {
    for (int chunk = 0; chunk < s.ranks; ++chunk) {
      const int from = (chunk + 1 + step) % s.ranks;
      s.transfers.push_back({first_step + step, from, (from + 1) % s.ranks, chunk, Combine::reduce});
    }
  }
}

namespace {

Schedule schedule(int ranks) {
  Schedule s{CollectiveOp::reduce_scatter, ranks, ranks, 0, {}};
  append_ring_reduce_scatter(s, 0);
  return s;
}

RingTraffic traffic(int ranks) { return {static_cast<double>(ranks - 1) / ranks, ranks - 1}; }

}  // namespace

const CollectiveEntry kRingReduceScatter{"ring_reduce_scatter", "every rank gets the sum of its share of the data", CollectiveOp::reduce_scatter, schedule, traffic};

}  // namespace foretrain
