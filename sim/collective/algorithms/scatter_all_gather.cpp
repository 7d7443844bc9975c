// Van de Geijn's broadcast: the root scatters the parts along a binomial tree, and a ring all-gather brings
// every part to all ranks (MPICH for long messages).
//
// The busiest link carries 2 S bytes in log2(n) + n - 1 steps, against S log2(n) bytes of a binomial
// broadcast. It is better above some hundred kilobytes.
#include "sim/collective/algorithms/binomial.hpp"
#include "sim/collective/algorithms/power_of_two.hpp"
#include "sim/collective/algorithms/ring.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_scatter_all_gather(Lanes& lanes, const AlgorithmRequest& request) {
  const int n = lanes.ranks;
  lanes.chunks = n * request.pieces;
  const std::vector<std::uint32_t> into = add_binomial_scatter(lanes);
  std::vector<std::vector<LaneNeed>> starts(static_cast<std::size_t>(n));
  // A place enters the ring when it has its own part.
  for (std::size_t p = 1; p < starts.size(); ++p) starts[p] = {last_of(lanes, into[p])};
  add_ring(lanes, {.places = all_places(n), .steps = n - 1, .pieces = request.pieces}, starts);
}

LaneCosts scatter_all_gather_costs(const AlgorithmRequest& request) {
  const int n = request.ranks(), depth = binomial_depth(n);
  const double once = static_cast<double>(n - 1) / n;
  return {.hops = depth + n - 1,
          .steps = depth + (n - 1) * request.pieces,
          .sent = 2 * once,
          .received = once + largest_subtree(n),
          .pair = 1,
          .message = largest_subtree(n),
          .chain = heaviest_branch(n) + once,
          .messages = rounds_of(n) + (n - 1) * request.pieces};
}

}  // namespace

Algorithm scatter_all_gather_broadcast() {
  return {"scatter_all_gather_broadcast",
          AlgorithmFamily::scatter_all_gather,
          CollectiveOp::broadcast,
          "parts scattered along a binomial tree, then gathered around a ring",
          fill_scatter_all_gather,
          scatter_all_gather_costs,
          refuse_nothing};
}

}  // namespace foretrain
