// The table of algorithms; a new one is a new file and its row here.
#include "sim/collective/algorithms/catalog.hpp"

#include <array>

namespace foretrain {

namespace {

template <CollectiveOp op>
double ring_bytes(int n) {
  return ring_traffic(op, n).bytes_per_edge;
}

template <CollectiveOp op>
int ring_steps(int n, int k) {
  const int steps = ring_traffic(op, n).steps;
  const bool pipelined = op == CollectiveOp::broadcast || op == CollectiveOp::reduce;
  return pipelined && n > 1 ? steps + k - 1 : steps;
}

template <CollectiveOp op>
constexpr Algorithm ring(std::string_view name, std::string_view summary, Schedule (*schedule)(std::span<const int>, int, int)) {
  return {name, op, summary, schedule, ring_steps<op>, ring_bytes<op>};
}

constexpr std::array<Algorithm, 5> kRows{
    ring<CollectiveOp::all_reduce>("ring_all_reduce", "reduce-scatter, then all-gather around the ring", ring_all_reduce),
    ring<CollectiveOp::broadcast>("ring_broadcast", "chunk after chunk from the root along the ring", ring_broadcast),
    ring<CollectiveOp::reduce>("ring_reduce", "chunk after chunk along the ring to the root, adding", ring_reduce),
    ring<CollectiveOp::reduce_scatter>("ring_reduce_scatter", "every part goes once around the ring to its owner, adding",
                                       ring_reduce_scatter),
    ring<CollectiveOp::all_gather>("ring_all_gather", "every part goes once around the ring from its owner", ring_all_gather)};

}  // namespace

std::span<const Algorithm> algorithms() { return kRows; }

RingTraffic ring_traffic(CollectiveOp op, int n) {
  if (n <= 1) return {};
  const double once = static_cast<double>(n - 1) / n;
  switch (op) {
    case CollectiveOp::all_reduce:
      return {2 * once, 2 * (n - 1)};
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_gather:
      return {once, n - 1};
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return {1, n - 1};
  }
  return {};
}

}  // namespace foretrain
