// Ring broadcast: the root's message is cut into chunks that follow each other around the ring, so every edge but the one back to
// the root carries the whole message. With many chunks the time is the message once plus n - 2 chunks: the steps counted here are
// those of one chunk's way.
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

namespace {

constexpr int kChunks = 4;

Schedule schedule(int ranks) {
  Schedule s{CollectiveOp::broadcast, ranks, kChunks, 0, {}};
  for (int step = 0; step < kChunks + ranks - 2; ++step) {
    for (int from = 0; from < ranks - 1; ++from) {
      const int chunk = step - from;
      if (chunk >= 0 && chunk < kChunks) s.transfers.push_back({step, from, from + 1, chunk, Combine::copy});
    }
  }
  return s;
}

RingTraffic traffic(int ranks) { return {ranks > 1 ? 1.0 : 0.0, ranks - 1}; }

}  // namespace

const CollectiveEntry kRingBroadcast{"ring_broadcast", "every rank gets the root's data, pipelined around the ring", CollectiveOp::broadcast, schedule, traffic};

}  // namespace foretrain
