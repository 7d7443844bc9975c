// How much of a broadcast or reduce the next one hides, when one is started right behind the other.
#pragma once

#include <vector>

#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// Places along the chain by rank, one list for each order that the running channels use. `from_root`: the
/// chain begins at rank 0 (broadcast), else it ends there (reduce).
std::vector<std::vector<int>> chain_places(const nccl::Job& job, int channels, bool from_root);

/// The hops that a call waits for the call before, on average, in a long row of them. A rank starts call k
/// when it is done with call k - 1 on all of its channels, so with one order no call waits for another; where
/// x comes d hops before y on one channel and e hops behind it on another, x waits for y and y for x, and two
/// calls need d + e hops. Requires places of equal length; `group`: only pairs are looked at of which one is
/// among the first `group` ranks, or that stand in one group of so many (ranks of a node).
double waiting_hops(const std::vector<std::vector<int>>& places, int group);

}  // namespace foretrain
