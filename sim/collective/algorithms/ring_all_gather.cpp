// Ring all-gather: chunk c starts at rank c and is handed on until every rank has it.
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

void append_ring_all_gather(Schedule& s, int first_step) {
  for (int step = 0; step < s.ranks - 1; ++step) {
    for (int chunk = 0; chunk < s.ranks; ++chunk) {
      const int from = (chunk + step) % s.ranks;
      s.transfers.push_back({first_step + step, from, (from + 1) % s.ranks, chunk, Combine::copy});
    }
  }
}

namespace {

Schedule schedule(int ranks) {
  Schedule s{CollectiveOp::all_gather, ranks, ranks, 0, {}};
  append_ring_all_gather(s, 0);
  return s;
}

RingTraffic traffic(int ranks) { return {static_cast<double>(ranks - 1) / ranks, ranks - 1}; }

}  // namespace

const CollectiveEntry kRingAllGather{"ring_all_gather", "every rank gets every rank's share", CollectiveOp::all_gather, schedule, traffic};

}  // namespace foretrain
