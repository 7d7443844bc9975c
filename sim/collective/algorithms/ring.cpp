// A ring as lanes. Message k of lane i needs message k - pieces of lane i - 1: the same piece, one step
// earlier.
//
// The pieces of a part are numbered backwards, so that a lane's messages count down through the chunks
// without a jump.
#include "sim/collective/algorithms/ring.hpp"

#include <numeric>

namespace foretrain {

std::uint32_t add_ring(Lanes& lanes, const RingLanes& ring,
                       const std::vector<std::vector<LaneNeed>>& starts) {
  const int n = static_cast<int>(ring.places.size());
  const int part = ring.pieces * ring.width;
  const std::uint32_t begin = static_cast<std::uint32_t>(lanes.lanes.size());
  for (int i = 0; i < n; ++i) {
    std::vector<LaneNeed> needs{{begin + static_cast<std::uint32_t>((i + n - 1) % n), ring.pieces}};
    if (!starts.empty())
      needs.insert(needs.end(), starts[static_cast<std::size_t>(i)].begin(),
                   starts[static_cast<std::size_t>(i)].end());
    add_lane(lanes,
             {.from = ring.places[static_cast<std::size_t>(i)],
              .to = ring.places[static_cast<std::size_t>((i + 1) % n)],
              .messages = ring.steps * ring.pieces,
              .first = (i + ring.shift + 1) * part - ring.width,
              .stride = -ring.width,
              .width = ring.width,
              .base = ring.base,
              .wrap = n * part,
              .first_copy = ring.adding_steps * ring.pieces},
             needs);
  }
  return begin;
}

LaneCosts ring_costs(int n, int pieces, int rounds, int adding_rounds) {
  const int hops = rounds * (n - 1);
  const double bytes = static_cast<double>(hops) / n;
  return {.hops = hops,
          .steps = hops * pieces,
          .sent = bytes,
          .received = bytes,
          .pair = bytes,
          .message = 1.0 / (n * pieces),
          .chain = bytes,
          .messages = hops * pieces,
          .added = static_cast<double>(adding_rounds * (n - 1)) / n};
}

std::vector<int> all_places(int n) {
  std::vector<int> places(static_cast<std::size_t>(n));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

}  // namespace foretrain
