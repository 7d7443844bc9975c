// The collective algorithms: a table of functions, one row and one file each.
#pragma once

#include <string_view>
#include <vector>

#include "sim/collective/schedule.hpp"

namespace foretrain {

/// What a ring algorithm puts on each edge of the ring, in closed form.
struct RingTraffic {
  double bytes_per_edge = 0;  ///< per byte of message, over the edge that carries most
  int steps = 0;              ///< sequential transfers, each waiting for the one before
};

struct CollectiveEntry {
  std::string_view name;     ///< "ring_all_reduce"
  std::string_view summary;
  CollectiveOp op;
  /// Ranks 0..n-1 in ring order; the root of a broadcast is 0.
  Schedule (*schedule)(int ranks);
  RingTraffic (*traffic)(int ranks);
};

const std::vector<CollectiveEntry>& collective_catalog();
/// The ring algorithm of an operation.
const CollectiveEntry& ring_algorithm(CollectiveOp op);

extern const CollectiveEntry kRingAllReduce, kRingBroadcast, kRingReduceScatter, kRingAllGather;

/// The two halves of a ring all-reduce, also collectives of their own. Chunk c travels one rank per step from `first_step` on and ends
/// (reduce_scatter) or starts (all_gather) at rank c.
void append_ring_reduce_scatter(Schedule& schedule, int first_step);
void append_ring_all_gather(Schedule& schedule, int first_step);

}  // namespace foretrain
