// Rings of lanes, around which one part after another moves.
#pragma once

#include <vector>

#include "sim/collective/algorithms/request.hpp"
#include "sim/collective/lanes.hpp"

namespace foretrain {

/// A closed ring with a lane from places[i] to places[i + 1]. In step s place i passes on part i + shift - s,
/// which it received in the step before.
struct RingLanes {
  std::vector<int> places;
  /// Steps that every lane takes.
  int steps = 0;
  int shift = 0;
  /// Steps below this one add; later ones overwrite.
  int adding_steps = 0;
  /// Messages per part, each of which moves on independently.
  int pieces = 1;
  /// Chunks per message.
  int width = 1;
  /// First chunk. The parts of the ring follow each other from there.
  int base = 0;
};

/// Adds the ring and returns the index of its first lane. Lane i also waits for `starts[i]` when starts is
/// not empty.
std::uint32_t add_ring(Lanes& lanes, const RingLanes& ring,
                       const std::vector<std::vector<LaneNeed>>& starts = {});

/// Returns the costs of `rounds` rounds of a ring of n places that share the message. It adds on the first
/// `adding_rounds` of them.
LaneCosts ring_costs(int n, int pieces, int rounds, int adding_rounds);

/// Returns 0 … n-1.
std::vector<int> all_places(int n);

}  // namespace foretrain
