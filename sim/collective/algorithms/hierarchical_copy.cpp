// TensorFlow's HierarchicalCopyAllReduce for a DGX-1 (tensorflow/python/distribute/cross_device_utils.py).
//
// Gradient i is added on main device i mod n inside its half of the devices, and on the device n/2 further
// inside the other half. The two exchange their sums, and each copies the result to its half. Here a chunk is
// the part that one main device adds up. It was made for the NVLink mesh of a DGX-1, in which a GPU reaches
// only four of the seven others directly.
#include <algorithm>

#include "sim/collective/algorithms/rounds.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

/// Calls use(main, other, chunk) for both main devices of every chunk and the other devices of the main's
/// half.
template <class Use>
void for_halves(int n, const Use& use) {
  const int half = n / 2;
  for (int chunk = 0; chunk < n; ++chunk) {
    for (const int main : {chunk, (chunk + half) % n}) {
      for (int other = main / half * half; other < main / half * half + half; ++other) {
        if (other != main) use(main, other, chunk);
      }
    }
  }
}

void fill_hierarchical_copy(Lanes& lanes, const AlgorithmRequest&) {
  const int n = lanes.ranks;
  lanes.chunks = n;
  Rounds rounds(lanes, Rounds::for_its_chunks);
  for_halves(n, [&](int main, int other, int chunk) {
    rounds.send(other, main, {chunk, 1}, Transfer::reduce);
  });
  rounds.next();
  for (int chunk = 0; chunk < n; ++chunk) {
    const int opposite = (chunk + n / 2) % n;
    rounds.send(chunk, opposite, {chunk, 1}, Transfer::reduce);
    rounds.send(opposite, chunk, {chunk, 1}, Transfer::reduce);
  }
  rounds.next();
  for_halves(n, [&](int main, int other, int chunk) {
    rounds.send(main, other, {chunk, 1}, Transfer::copy);
  });
}

/// Returns the closed form: 2 (n/2 - 1) messages in the first and last phase each, and 2 in the exchange.
LaneCosts hierarchical_copy_costs(const AlgorithmRequest& request) {
  const int n = request.ranks();
  const int hops = n == 2 ? 1 : 3, messages = 4 * (n / 2 - 1) + 2;
  const double chunk = 1.0 / n;
  return {.hops = hops,
          .steps = hops,
          .sent = messages * chunk,
          .received = messages * chunk,
          .pair = (n == 2 ? 2 : 4) * chunk,
          .message = chunk,
          .chain = hops * chunk,
          .messages = messages,
          .added = 1};
}

std::string_view refuse_hierarchical_copy(const AlgorithmRequest& request) {
  if (request.ranks() > 16) return "it is made for the GPUs of one node, at most 16";
  return request.ranks() > 1 && request.ranks() % 2 != 0 ? "the ranks do not fall into two halves" : "";
}

}  // namespace

Algorithm hierarchical_copy_all_reduce() {
  return {"hierarchical_copy_all_reduce",
          AlgorithmFamily::hierarchical_copy,
          CollectiveOp::all_reduce,
          "chunks added on one rank of each half, exchanged, copied back (DGX-1, TensorFlow)",
          fill_hierarchical_copy,
          hierarchical_copy_costs,
          refuse_hierarchical_copy};
}

}  // namespace foretrain
