// The algorithms of collectives: a table of schedules with their closed forms, one file each.
#pragma once

#include <span>
#include <string_view>

#include "sim/collective/schedule.hpp"

namespace foretrain {

/// One algorithm. n = number of ranks, k = number of chunks a pipelined message is cut into (others choose their own).
struct Algorithm {
  std::string_view name;
  CollectiveOp op;
  std::string_view summary;
  /// `order`: the ranks 0 … n-1 as they stand around the ring; `root` is one of them.
  Schedule (*schedule)(std::span<const int> order, int root, int k);
  /// Steps one after the other.
  int (*steps)(int n, int k);
  /// Bytes over the busiest ring edge per byte of message (all_gather, reduce_scatter: of all ranks' parts together).
  double (*bytes_per_edge)(int n);
};

std::span<const Algorithm> algorithms();

/// What a ring asks of the machine: the closed forms of a pipelined ring in the limit of many chunks.
struct RingTraffic {
  double bytes_per_edge = 0;  ///< per byte of message, on every edge that is used
  int steps = 0;              ///< until the last rank has the first data, or all of it where the message is cut by ranks
};

/// Patarasuk & Yuan 2009: 2(n-1)/n and 2(n-1) for all_reduce, half of both for reduce_scatter and all_gather; 1 and n-1 for
/// broadcast and reduce. 0 and 0 for n <= 1.
RingTraffic ring_traffic(CollectiveOp op, int n);

/// The ring algorithms (ring_*.cpp).
Schedule ring_all_reduce(std::span<const int> order, int root, int k);
Schedule ring_broadcast(std::span<const int> order, int root, int k);
Schedule ring_reduce(std::span<const int> order, int root, int k);
Schedule ring_reduce_scatter(std::span<const int> order, int root, int k);
Schedule ring_all_gather(std::span<const int> order, int root, int k);

}  // namespace foretrain
