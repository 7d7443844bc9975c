// Every rank sends everything to the first rank, which adds and sends the sum back (TensorFlow's
// ReductionToOneDevice).
//
// The first rank receives and sends (n - 1) S bytes, so its link bounds the time: n times slower than a ring
// for long messages. Frameworks use it where a copy to one device is the only available operation.
#include "sim/collective/algorithms/rows.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

namespace {

void fill_reduce_to_one(Lanes& lanes, const AlgorithmRequest& request) {
  lanes.chunks = request.pieces;
  add_all_reduce(lanes, star(lanes.ranks), {0, request.pieces});
}

LaneCosts reduce_to_one_costs(const AlgorithmRequest& request) {
  const int others = request.ranks() - 1, steps = 2 + request.pieces - 1;
  const double bytes = others, piece = 1.0 / request.pieces;
  return {.hops = 2,
          .steps = steps,
          .sent = bytes,
          .received = bytes,
          .pair = 1,
          .message = piece,
          .chain = steps * piece,
          .messages = others * request.pieces,
          .added = bytes};
}

}  // namespace

Algorithm reduce_to_one_all_reduce() {
  return {"reduce_to_one_all_reduce", AlgorithmFamily::reduce_to_one,
          CollectiveOp::all_reduce,   "one rank adds all and sends the sum back",
          fill_reduce_to_one,         reduce_to_one_costs,
          refuse_too_many_pairs};
}

}  // namespace foretrain
