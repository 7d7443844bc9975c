// Ring reduce-scatter: the part of the rank at place j starts at place j + 1 and takes n - 1 steps around the
// ring to its owner. Each stop adds its contribution.
//
// Each rank sends n - 1 partial sums of S / n bytes. It is the all-gather run backwards, with an addition at
// each stop.
#include "sim/collective/algorithms/ring.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_ring_reduce_scatter(Lanes& lanes, const AlgorithmRequest& request) {
  const int n = lanes.ranks;
  lanes.chunks = n * request.pieces;
  add_ring(lanes, {.places = all_places(n),
                   .steps = n - 1,
                   .shift = -1,
                   .adding_steps = n - 1,
                   .pieces = request.pieces});
}

LaneCosts ring_reduce_scatter_costs(const AlgorithmRequest& request) {
  return ring_costs(request.ranks(), request.pieces, 1, 1);
}

}  // namespace

Algorithm ring_reduce_scatter() {
  return {"ring_reduce_scatter",
          AlgorithmFamily::ring,
          CollectiveOp::reduce_scatter,
          "every part goes once around the ring to its owner, adding",
          fill_ring_reduce_scatter,
          ring_reduce_scatter_costs,
          refuse_nothing};
}

}  // namespace foretrain
