// Pairwise exchange: n - 1 rounds. In round d every rank sends to the rank d places further on, receives from
// the one d places back, and only then goes on.
//
// Every rank sends (n - 1) / n of its buffer, which is the least possible, and in each round all links are
// used by one pair alone. Rounds keep a slow rank from being overrun; the price is n - 1 latencies.
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_pairwise(Lanes& lanes, const AlgorithmRequest&) {
  const int n = lanes.ranks;
  lanes.chunks = n * n;
  for (int d = 1; d < n; ++d) {
    for (int p = 0; p < n; ++p) {
      std::vector<LaneNeed> needs;
      // Place p received from place p - (d - 1) in the previous round. Lane (d - 2) n + q is that of place q
      // in that round.
      if (d > 1) needs.push_back({static_cast<std::uint32_t>((d - 2) * n + (p - (d - 1) + n) % n), 0});
      add_lane(lanes, {.from = p, .to = (p + d) % n, .first = d * n + p, .wrap = lanes.chunks}, needs);
    }
  }
}

LaneCosts pairwise_costs(const AlgorithmRequest& request) {
  const int n = request.ranks();
  const double bytes = static_cast<double>(n - 1) / n;
  return {.hops = n - 1,
          .steps = n - 1,
          .sent = bytes,
          .received = bytes,
          .pair = 1.0 / n,
          .message = 1.0 / n,
          .chain = bytes,
          .messages = n - 1};
}

}  // namespace

Algorithm pairwise_alltoall() {
  return {"pairwise_alltoall",    AlgorithmFamily::pairwise,
          CollectiveOp::alltoall, "one partner after the other, each round ends before the next",
          fill_pairwise,          pairwise_costs,
          refuse_too_many_pairs};
}

}  // namespace foretrain
