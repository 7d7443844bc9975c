// NCCL before 2.5. It has no forecasts but thresholds of bytes per thread, and the protocols LL and Simple
// only.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/channels_used.hpp"

namespace foretrain::nccl {

/// The first version that forecasts times. It also brought LL128, and runs twice the channels that the search
/// finds.
inline constexpr Version kFirstForecasts{2, 5, 0};

/// The first version with trees.
inline constexpr Version kFirstTrees{2, 4, 0};

/// Returns the size of the largest all-reduce that takes trees before 2.5; larger ones take rings
/// (src/init.cc ncclTreeThreshold of 2.4). Up to this size a tree's latency outweighs its lower rate: 2/3 of
/// a ring's, 3/4 over NVLink, twice that on two nodes. Returns 0 if no size takes trees. `nvlink`: the GPUs
/// have NVLinks.
std::int64_t tree_threshold(const RunSetting& setting, bool nvlink);

/// A protocol with the channels and threads that run.
struct ThresholdChoice {
  Protocol protocol = Protocol::simple;
  RunShape run{};
};

/// Returns protocol and threads by size (src/enqueue.cc getKernelInfo of 2.4; docs/sources/nccl_peers.md 2).
/// LL is used while every thread has at most 64 bytes of each chunk of a loop, with as few threads and
/// channels as 8 bytes each allow. Otherwise Simple runs on all channels.
ThresholdChoice choose_by_size(const RunSetting& setting, CollectiveOp op, Algorithm algorithm,
                               std::int64_t bytes);

}  // namespace foretrain::nccl
