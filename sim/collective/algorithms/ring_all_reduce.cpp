// Ring all-reduce: a reduce-scatter, after which every rank has the sum of its own part, and an all-gather of
// the parts, without a pause between them.
//
// With n ranks and S bytes each rank sends 2 (n - 1) messages of S / n bytes, 2 S (n - 1) / n in all. No
// algorithm without help from the network sends less, so a ring is optimal in bandwidth. Its latency grows
// with 2 (n - 1) steps, which is why libraries take trees for small messages. Patarasuk and Yuan, J. Parallel
// Distrib. Comput. 69 (2009).
#include "sim/collective/algorithms/ring.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_ring_all_reduce(Lanes& lanes, const AlgorithmRequest& request) {
  const int n = lanes.ranks;
  lanes.chunks = n * request.pieces;
  add_ring(lanes, {.places = all_places(n),
                   .steps = 2 * (n - 1),
                   .shift = -1,
                   .adding_steps = n - 1,
                   .pieces = request.pieces});
}

LaneCosts ring_all_reduce_costs(const AlgorithmRequest& request) {
  return ring_costs(request.ranks(), request.pieces, 2, 1);
}

}  // namespace

Algorithm ring_all_reduce() {
  return {"ring_all_reduce",
          AlgorithmFamily::ring,
          CollectiveOp::all_reduce,
          "reduce-scatter, then all-gather around the ring",
          fill_ring_all_reduce,
          ring_all_reduce_costs,
          refuse_nothing};
}

}  // namespace foretrain
