// Recursive doubling (MPICH, src/mpi/coll/allreduce/allreduce_intra_recursive_doubling.c). In the round of
// bit d every rank exchanges its whole sum with the rank whose place differs in bit d. Ranks beyond a power
// of two give their data to a neighbour first and get the result from it at the end.
//
// It has log2(n) rounds of the whole message: the smallest latency, but log2(n) times the necessary bytes.
// Libraries take it below some kilobytes (Thakur, Rabenseifner and Gropp, 2005).
#include "sim/collective/algorithms/power_of_two.hpp"
#include "sim/collective/algorithms/rounds.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

void fill_recursive_doubling(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = 1;
  const PowerOfTwo core(lanes.ranks);
  Rounds rounds(lanes);
  core.fold(rounds, {0, 1});
  for (int distance = 1; distance < core.size(); distance *= 2) {
    for (int v = 0; v < core.size(); ++v)
      rounds.send(core.place(v), core.place(v ^ distance), {0, 1}, Transfer::reduce);
    rounds.next();
  }
  core.unfold(rounds, {0, 1});
}

/// Returns by how many messages folding lengthens the longest chain. The folded data is behind by one
/// message. Suppose that up to half of the participants have some. Then the participant that is to unfold
/// hears the last news from the other half, which is not behind, and the chain is one message shorter than
/// fold, rounds and unfold.
int chain_of_folds(const PowerOfTwo& core) {
  if (core.extra() == 0) return 0;
  return 2 * core.extra() > core.size() ? 2 : 1;
}

LaneCosts recursive_doubling_costs(const AlgorithmRequest& request) {
  const PowerOfTwo core(request.ranks());
  const int hops = core.rounds() + chain_of_folds(core);
  const int messages = core.rounds() + (core.extra() > 0 ? 1 : 0);
  const double bytes = messages;
  return {.hops = hops,
          .steps = hops,
          .sent = bytes,
          .received = bytes,
          .pair = 1,
          .message = 1,
          .chain = static_cast<double>(hops),
          .messages = messages,
          .added = bytes};
}

}  // namespace

Algorithm recursive_doubling_all_reduce() {
  return {"recursive_doubling_all_reduce",
          AlgorithmFamily::recursive_doubling,
          CollectiveOp::all_reduce,
          "whole sums exchanged with the rank 1, 2, 4, ... places off",
          fill_recursive_doubling,
          recursive_doubling_costs,
          refuse_nothing};
}

}  // namespace foretrain
