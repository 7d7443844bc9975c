// A ring reduce-scatter, after which every rank sends its part to the root (gloo's reduce; MPICH for long
// messages).
//
// Only the root's link carries more than S bytes: (n - 1) S / n arrive there at the end.
#include "sim/collective/algorithms/ring.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_reduce_scatter_gather(Lanes& lanes, const AlgorithmRequest& request) {
  const int n = lanes.ranks, pieces = request.pieces;
  lanes.chunks = n * pieces;
  const std::uint32_t ring = add_ring(
      lanes, {.places = all_places(n), .steps = n - 1, .shift = -1, .adding_steps = n - 1, .pieces = pieces});
  for (int p = 1; p < n; ++p) {
    // The part of place p is complete when the last message of the lane into p has arrived.
    const std::uint32_t into = ring + static_cast<std::uint32_t>(p - 1);
    add_lane(lanes, {.from = p, .to = 0, .first = p * pieces, .width = pieces, .wrap = lanes.chunks},
             {last_of(lanes, into)});
  }
}

LaneCosts reduce_scatter_gather_costs(const AlgorithmRequest& request) {
  const int n = request.ranks();
  return {.hops = n,
          .steps = (n - 1) * request.pieces + 1,
          .sent = 1,
          .received = 2.0 * (n - 1) / n,
          .pair = 1,
          .message = 1.0 / n,
          .chain = 1,
          .messages = (n - 1) * (request.pieces + 1),
          .added = (n - 1.0) / n};
}

}  // namespace

Algorithm reduce_scatter_gather_reduce() {
  return {"reduce_scatter_gather_reduce",
          AlgorithmFamily::reduce_scatter_gather,
          CollectiveOp::reduce,
          "parts added around a ring, then sent to the root",
          fill_reduce_scatter_gather,
          reduce_scatter_gather_costs,
          refuse_nothing};
}

}  // namespace foretrain
