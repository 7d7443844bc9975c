// Pipelined broadcast along the ring: while the second rank passes on piece k, the root sends it piece k + 1.
// The edge back into the root stays idle.
//
// Every edge carries all S bytes, so the time of a long message is S / rate plus the time until the first
// piece has gone around. The number of pieces trades the two: more pieces fill the pipeline sooner and pay
// more latencies.
#include "sim/collective/algorithms/rows.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

namespace {

void fill_ring_broadcast(Lanes& lanes, const AlgorithmRequest& request) {
  lanes.chunks = request.pieces;
  add_broadcast(lanes, chain(lanes.ranks), {0, request.pieces}, {});
}

LaneCosts ring_broadcast_costs(const AlgorithmRequest& request) {
  const int hops = request.ranks() - 1;
  const int steps = hops + request.pieces - 1;
  const double piece = 1.0 / request.pieces;
  return {.hops = hops,
          .steps = steps,
          .sent = 1,
          .received = 1,
          .pair = 1,
          .message = piece,
          .chain = steps * piece,
          .messages = request.pieces};
}

}  // namespace

Algorithm ring_broadcast() {
  return {"ring_broadcast",        AlgorithmFamily::ring,
          CollectiveOp::broadcast, "piece after piece from the root along the ring",
          fill_ring_broadcast,     ring_broadcast_costs,
          refuse_nothing};
}

}  // namespace foretrain
