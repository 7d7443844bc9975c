// Kernels that read a row of numbers more than once: how much of that finds the row in the first-level cache.
#pragma once

#include <cstdint>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Of a tensor that is read once and written once, when its rows are read `again` times more by blocks of so
/// many threads, each of one row: 1 + again / 2 where the rows of a multiprocessor's blocks exceed its L1,
/// else a third of that on top (docs/models/products.md).
double row_passes(const Gpu& gpu, double row_bytes, int again, int block_threads);

/// Threads of PyTorch's block of softmax (aten/src/ATen/native/cuda/SoftMax.cu), and of layer norm.
int softmax_threads(std::int64_t columns);
inline constexpr int kLayerNormThreads = 128;

}  // namespace foretrain
