// Kernels that read a row of numbers more than once, and the share of these reads that the first-level cache
// serves.
#pragma once

#include <cstdint>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Returns the passes over a tensor that is read once and written once, when its rows are read `again` times
/// more. Each block of `block_threads` threads reads one row. The result is 1 + again / 2 where the rows of a
/// multiprocessor's blocks exceed its L1, and a third of that addition where they fit
/// (docs/models/kernels.md).
double row_passes(const Gpu& gpu, double row_bytes, int again, int block_threads);

/// Returns the threads of a block of PyTorch's softmax (aten/src/ATen/native/cuda/SoftMax.cu). Layer norm has
/// blocks of kLayerNormThreads.
int softmax_threads(std::int64_t columns);
inline constexpr int kLayerNormThreads = 128;

}  // namespace foretrain
