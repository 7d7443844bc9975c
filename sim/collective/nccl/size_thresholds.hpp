// NCCL before 2.5: no forecasts, thresholds of bytes per thread; LL and Simple only.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/channels_used.hpp"

namespace foretrain::nccl {

/// The first version that forecasts times; LL128 came with it, and twice the channels that the search finds.
inline constexpr Version kFirstForecasts{2, 5, 0};

/// A protocol and what runs.
struct ThresholdChoice {
  Protocol protocol = Protocol::simple;
  RunShape run{};
};

/// src/enqueue.cc getKernelInfo of 2.4 (facts/NCCL_MORE.md 2): LL while every thread has at most 64 bytes of
/// each chunk of a loop, with as few threads and channels as 8 bytes each allow; Simple on all channels.
ThresholdChoice choose_by_size(const RunSetting& setting, CollectiveOp op, Algorithm algorithm,
                               std::int64_t bytes);

}  // namespace foretrain::nccl
