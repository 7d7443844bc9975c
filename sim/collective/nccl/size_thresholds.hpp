// NCCL before 2.5: no forecasts, thresholds of bytes per thread; LL and Simple only.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/channels_used.hpp"

namespace foretrain::nccl {

/// The first version that forecasts times; LL128 came with it, and twice the channels that the search finds.
inline constexpr Version kFirstForecasts{2, 5, 0};

/// The first version with trees.
inline constexpr Version kFirstTrees{2, 4, 0};

/// The largest all-reduce that takes trees before 2.5; larger ones take rings. src/init.cc ncclTreeThreshold
/// of 2.4: where a tree's latency and 2/3 of a ring's rate (3/4 over NVLink, twice that on two nodes) make up
/// for the ring's latency. 0: no size. `nvlink`: the GPUs have such links.
std::int64_t tree_threshold(const RunSetting& setting, bool nvlink);

/// A protocol and what runs.
struct ThresholdChoice {
  Protocol protocol = Protocol::simple;
  RunShape run{};
};

/// src/enqueue.cc getKernelInfo of 2.4 (docs/sources/nccl_peers.md 2): LL while every thread has at most 64
/// bytes of each chunk of a loop, with as few threads and channels as 8 bytes each allow; Simple on all
/// channels.
ThresholdChoice choose_by_size(const RunSetting& setting, CollectiveOp op, Algorithm algorithm,
                               std::int64_t bytes);

}  // namespace foretrain::nccl
