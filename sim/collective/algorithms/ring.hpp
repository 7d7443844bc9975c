// Rings of lanes: part after part goes around.
#pragma once

#include <vector>

#include "sim/collective/algorithms/request.hpp"
#include "sim/collective/lanes.hpp"

namespace foretrain {

/// Lanes from places[i] to places[i + 1], closed. In step s place i passes on part i + shift - s: what it
/// received in the step before.
struct RingLanes {
  std::vector<int> places;
  int steps = 0;
  int shift = 0;
  int adding_steps = 0;  ///< steps below this one add
  int pieces = 1;        ///< messages per part, each of which moves on by itself
  int width = 1;         ///< chunks per message
  int base = 0;          ///< first chunk; the parts of the ring follow each other from there
};

/// Lane i of the ring, added i-th, waits for `starts[i]` too when starts is not empty. Returns the first
/// lane's index.
std::uint32_t add_ring(Lanes& lanes, const RingLanes& ring,
                       const std::vector<std::vector<LaneNeed>>& starts = {});

/// Costs of `rounds` times around a ring of n places that share the message, adding on the first
/// `adding_rounds` of them.
LaneCosts ring_costs(int n, int pieces, int rounds, int adding_rounds);

/// 0 … n-1.
std::vector<int> all_places(int n);

}  // namespace foretrain
