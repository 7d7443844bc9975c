// Pipelined reduction along the ring: each piece starts at the rank after the root and collects a
// contribution per hop. The edge out of the root stays idle.
//
// It is the broadcast run backwards: the same edges, the same number of bytes, and an addition at each rank.
#include "sim/collective/algorithms/rows.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

namespace {

void fill_ring_reduce(Lanes& lanes, const AlgorithmRequest& request) {
  lanes.chunks = request.pieces;
  // Place p sends to p + 1, and the last place to the root: the direction of the ring.
  Tree towards_root = chain(lanes.ranks);
  for (int p = 1; p < lanes.ranks; ++p) towards_root[static_cast<std::size_t>(p)] = (p + 1) % lanes.ranks;
  add_reduce(lanes, towards_root, {0, request.pieces});
}

LaneCosts ring_reduce_costs(const AlgorithmRequest& request) {
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
          .messages = request.pieces,
          .added = 1};
}

}  // namespace

Algorithm ring_reduce() {
  return {"ring_reduce",        AlgorithmFamily::ring,
          CollectiveOp::reduce, "piece after piece along the ring to the root, adding",
          fill_ring_reduce,     ring_reduce_costs,
          refuse_nothing};
}

}  // namespace foretrain
