// Recursive halving and doubling, known as Rabenseifner's algorithm.
//
// Halving exchanges half of the chunks that a rank is still responsible for with a rank n/2, n/4, …, 1 places
// away, and adds: a reduce-scatter. Doubling is the same backwards with copies: an all-gather. The all-reduce
// is both. Ranks beyond a power of two fold in and out.
//
// It has 2 log2(n) rounds and 2 S (n - 1) / n bytes: the bytes of a ring with the rounds of a tree. Halving
// begins with the farthest partners and the largest messages, so on an oversubscribed fabric the first round
// crosses the slow links with half of the data.
#include "sim/collective/algorithms/power_of_two.hpp"
#include "sim/collective/algorithms/rounds.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

/// Returns the chunks of the block of `width` participants that holds v.
ChunkRange block_of(int v, int width) { return {v & ~(width - 1), width}; }

/// Adds the reduce-scatter: after the round of `width`, each participant is responsible for a block of that
/// width.
void halve(Rounds& rounds, const PowerOfTwo& core) {
  for (int width = core.size() / 2; width >= 1; width /= 2) {
    for (int v = 0; v < core.size(); ++v)
      rounds.send(core.place(v), core.place(v ^ width), block_of(v ^ width, width), Transfer::reduce);
    rounds.next();
  }
}

/// Adds the all-gather: after the round of `width`, each participant has a block of twice that width.
void double_up(Rounds& rounds, const PowerOfTwo& core) {
  for (int width = 1; width < core.size(); width *= 2) {
    for (int v = 0; v < core.size(); ++v)
      rounds.send(core.place(v), core.place(v ^ width), block_of(v, width), Transfer::copy);
    rounds.next();
  }
}

void fill_recursive_halving_doubling_all_reduce(Lanes& lanes, const AlgorithmRequest&) {
  const PowerOfTwo core(lanes.ranks);
  lanes.chunks = core.size();
  Rounds rounds(lanes);
  core.fold(rounds, {0, core.size()});
  halve(rounds, core);
  double_up(rounds, core);
  core.unfold(rounds, {0, core.size()});
}

LaneCosts recursive_halving_doubling_all_reduce_costs(const AlgorithmRequest& request) {
  const PowerOfTwo core(request.ranks());
  const int fold = core.extra() > 0 ? 1 : 0;
  const int hops = 2 * core.rounds() + 2 * fold;
  const double bytes = 2.0 * (core.size() - 1) / core.size() + fold;
  return {.hops = hops,
          .steps = hops,
          .sent = bytes,
          .received = bytes,
          .pair = 1,
          .message = fold > 0 ? 1 : 0.5,
          .chain = bytes + fold,
          .messages = 2 * core.rounds() + fold,
          .added = 1 - 1.0 / core.size() + fold};
}

void fill_recursive_halving_doubling_reduce_scatter(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  Rounds rounds(lanes);
  halve(rounds, PowerOfTwo(lanes.ranks));
}

/// Returns the closed form of one half, without extra ranks: log2(n) rounds of 1/2, 1/4, … of the data.
LaneCosts half_costs(const AlgorithmRequest& request) {
  const int n = request.ranks(), hops = PowerOfTwo(n).rounds();
  const double bytes = static_cast<double>(n - 1) / n;
  return {.hops = hops,
          .steps = hops,
          .sent = bytes,
          .received = bytes,
          .pair = 0.5,
          .message = 0.5,
          .chain = bytes,
          .messages = hops};
}

LaneCosts recursive_halving_doubling_reduce_scatter_costs(const AlgorithmRequest& request) {
  LaneCosts costs = half_costs(request);
  costs.added = costs.received;
  return costs;
}

void fill_recursive_halving_doubling_all_gather(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  Rounds rounds(lanes);
  double_up(rounds, PowerOfTwo(lanes.ranks));
}

std::string_view refuse_recursive_halving_doubling(const AlgorithmRequest& request) {
  return PowerOfTwo(request.ranks()).extra() > 0 ? "the number of ranks is not a power of two" : "";
}

}  // namespace

Algorithm recursive_halving_doubling_all_reduce() {
  return {"recursive_halving_doubling_all_reduce",
          AlgorithmFamily::recursive_halving_doubling,
          CollectiveOp::all_reduce,
          "halves exchanged and added 1/2, 1/4, ... of the ranks off, then gathered backwards (Rabenseifner)",
          fill_recursive_halving_doubling_all_reduce,
          recursive_halving_doubling_all_reduce_costs,
          refuse_nothing};
}

Algorithm recursive_halving_reduce_scatter() {
  return {"recursive_halving_reduce_scatter",
          AlgorithmFamily::recursive_halving,
          CollectiveOp::reduce_scatter,
          "halves exchanged and added with the rank n/2, n/4, ... places off",
          fill_recursive_halving_doubling_reduce_scatter,
          recursive_halving_doubling_reduce_scatter_costs,
          refuse_recursive_halving_doubling};
}

Algorithm recursive_doubling_all_gather() {
  return {"recursive_doubling_all_gather",
          AlgorithmFamily::recursive_doubling,
          CollectiveOp::all_gather,
          "all that is gathered exchanged with the rank 1, 2, 4, ... places off",
          fill_recursive_halving_doubling_all_gather,
          half_costs,
          refuse_recursive_halving_doubling};
}

}  // namespace foretrain
