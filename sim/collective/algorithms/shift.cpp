// The sendrecv of nccl-tests: every rank sends its buffer to the next rank, in the order of the ranks and not
// of their places.
//
// Every rank sends and receives at once, so a full-duplex link carries both. The printed bandwidth is that of
// one direction.
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_shift(Lanes& lanes, const AlgorithmRequest& request) {
  const int n = lanes.ranks, pieces = request.pieces;
  lanes.chunks = n * pieces;
  std::vector<int> place_of(request.order.size());
  for (int p = 0; p < n; ++p)
    place_of[static_cast<std::size_t>(request.order[static_cast<std::size_t>(p)])] = p;
  for (int rank = 0; rank < n; ++rank) {
    const int from = place_of[static_cast<std::size_t>(rank)],
              to = place_of[static_cast<std::size_t>((rank + 1) % n)];
    add_lane(lanes,
             {.from = from, .to = to, .messages = pieces, .first = from * pieces, .wrap = lanes.chunks}, {});
  }
}

LaneCosts shift_costs(const AlgorithmRequest& request) {
  return {.hops = 1,
          .steps = request.pieces,
          .sent = 1,
          .received = 1,
          .pair = 1,
          .message = 1.0 / request.pieces,
          .chain = 1,
          .messages = request.pieces};
}

}  // namespace

Algorithm shift_sendrecv() {
  return {"shift_sendrecv",
          AlgorithmFamily::shift,
          CollectiveOp::sendrecv,
          "every rank sends to the next one",
          fill_shift,
          shift_costs,
          refuse_nothing};
}

}  // namespace foretrain
