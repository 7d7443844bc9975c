// The share of a chained broadcast or reduce that overlaps with the next one, when calls follow each other
// directly.
#pragma once

#include <vector>

#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// Returns the places along the chain by rank, one list for each order that the running channels use. With
/// `from_root` the chain begins at rank 0 (broadcast), otherwise it ends there (reduce).
std::vector<std::vector<int>> chain_places(const nccl::Job& job, int channels, bool from_root);

/// Returns the hops that a call waits for the previous call, on average, in a long sequence of calls.
///
/// A rank starts call k when it is done with call k - 1 on all its channels. With one order no call waits for
/// another. Suppose that x comes d hops before y on one channel and e hops after y on another. Then x waits
/// for y and y for x, and two calls need d + e hops. Only pairs are examined of which one is among the first
/// `group` ranks, or that belong to one group of that many (ranks of a node). Requires lists of equal length.
double waiting_hops(const std::vector<std::vector<int>>& places, int group);

}  // namespace foretrain
