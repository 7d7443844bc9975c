// The catalog of algorithms for collectives: a table of lanes with their closed forms, one file for each
// algorithm.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/collective/algorithms/family.hpp"
#include "sim/collective/algorithms/request.hpp"
#include "sim/collective/lanes.hpp"

namespace foretrain {

/// An algorithm for one operation. Its functions see places 0 … n-1 with n >= 2: place p is the p-th rank of
/// the order. For operations with a root the order is turned so that the root is place 0.
struct Algorithm {
  /// Unique name, such as "ring_all_reduce".
  std::string_view name;
  /// Unique among the algorithms of one operation.
  AlgorithmFamily family;
  CollectiveOp op;
  std::string_view summary;
  /// Fills chunks, switches and lanes of `lanes`, whose op and ranks are set. The ends of lanes are places.
  void (*fill)(Lanes& lanes, const AlgorithmRequest& request);
  /// Returns the closed form of what count_costs counts on the filled lanes; `total` stays 0.
  LaneCosts (*costs)(const AlgorithmRequest& request);
  /// Returns why the algorithm cannot do the request; empty when it can.
  std::string_view (*refuse)(const AlgorithmRequest& request);
};

/// Returns all algorithms.
std::span<const Algorithm> algorithms();

/// Returns the algorithm of an operation and family; nullptr if there is none.
const Algorithm* find_algorithm(CollectiveOp op, AlgorithmFamily family);
/// Returns the same by the family's name.
const Algorithm* find_algorithm(CollectiveOp op, std::string_view family);

/// Returns the lanes between ranks; no lanes for one rank. Requires a request that is not refused.
Lanes lanes_of(const Algorithm& algorithm, const AlgorithmRequest& request);

/// Returns the closed form of the costs; all zero for one rank.
LaneCosts costs_of(const Algorithm& algorithm, const AlgorithmRequest& request);

/// Traffic of a pipelined ring in the limit of many chunks: its closed forms.
struct RingTraffic {
  /// Bytes per byte of message on every edge that is used.
  double bytes_per_edge = 0;
  /// Steps until the last rank has the first data, or all of it if the message is cut by ranks.
  int steps = 0;
};

/// Returns the traffic of a ring (Patarasuk & Yuan 2009). all_reduce has 2(n-1)/n bytes and 2(n-1) steps;
/// reduce_scatter and all_gather have half of both; broadcast and reduce have 1 and n-1. It is 0 and 0 for n
/// <= 1 and for operations without a ring.
RingTraffic ring_traffic(CollectiveOp op, int n);

}  // namespace foretrain
