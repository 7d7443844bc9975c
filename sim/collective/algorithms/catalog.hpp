// The algorithms of collectives: a table of lanes with their closed forms, one file each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/collective/algorithms/family.hpp"
#include "sim/collective/algorithms/request.hpp"
#include "sim/collective/lanes.hpp"

namespace foretrain {

/// One algorithm. The functions see places 0 … n-1 with n >= 2: place p is the p-th rank of the order; ops
/// with a root see the order turned so that the root is place 0.
struct Algorithm {
  std::string_view name;   ///< "ring_all_reduce": unique
  AlgorithmFamily family;  ///< unique among those of one op
  CollectiveOp op;
  std::string_view summary;
  /// Fills chunks, switches and lanes of `lanes`, whose op and ranks are set; ranks of lanes are places.
  void (*fill)(Lanes& lanes, const AlgorithmRequest& request);
  /// Closed form of what count_costs counts on the filled lanes; `total` is left out (0).
  LaneCosts (*costs)(const AlgorithmRequest& request);
  /// Why this algorithm cannot do the request; empty when it can.
  std::string_view (*refuse)(const AlgorithmRequest& request);
};

std::span<const Algorithm> algorithms();

/// The row of an op and family; null when there is none.
const Algorithm* find_algorithm(CollectiveOp op, AlgorithmFamily family);
/// The same by the family's name.
const Algorithm* find_algorithm(CollectiveOp op, std::string_view family);

/// The lanes between ranks; one rank: no lanes. Requires a request that is not refused.
Lanes lanes_of(const Algorithm& algorithm, const AlgorithmRequest& request);

/// Closed form of their costs; one rank: none.
LaneCosts costs_of(const Algorithm& algorithm, const AlgorithmRequest& request);

/// What a ring asks of the machine: the closed forms of a pipelined ring in the limit of many chunks.
struct RingTraffic {
  double bytes_per_edge = 0;  ///< per byte of message, on every edge that is used
  int steps = 0;  ///< until the last rank has the first data, or all of it where the message is cut by ranks
};

/// Patarasuk & Yuan 2009: 2(n-1)/n and 2(n-1) for all_reduce, half of both for reduce_scatter and all_gather;
/// 1 and n-1 for broadcast and reduce. 0 and 0 for n <= 1 and for ops that have no ring.
RingTraffic ring_traffic(CollectiveOp op, int n);

}  // namespace foretrain
