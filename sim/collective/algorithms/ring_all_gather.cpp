// Ring all-gather: the part of the rank at place j starts at j and takes n - 1 steps around the ring. Each
// rank keeps a copy.
//
// Each rank sends n - 1 parts of S / n bytes, where S counts all parts together. Latency grows with n - 1
// steps.
#include "sim/collective/algorithms/ring.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_ring_all_gather(Lanes& lanes, const AlgorithmRequest& request) {
  const int n = lanes.ranks;
  lanes.chunks = n * request.pieces;
  add_ring(lanes, {.places = all_places(n), .steps = n - 1, .pieces = request.pieces});
}

LaneCosts ring_all_gather_costs(const AlgorithmRequest& request) {
  return ring_costs(request.ranks(), request.pieces, 1, 0);
}

}  // namespace

Algorithm ring_all_gather() {
  return {"ring_all_gather",
          AlgorithmFamily::ring,
          CollectiveOp::all_gather,
          "every part goes once around the ring from its owner",
          fill_ring_all_gather,
          ring_all_gather_costs,
          refuse_nothing};
}

}  // namespace foretrain
