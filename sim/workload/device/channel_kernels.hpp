// Kernels that their arithmetic or their number of blocks limits, not the memory: batch norm, pooling and
// depthwise convolutions.
#pragma once

#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

/// Least seconds of cuDNN's batch norm in channels_first layout: one block works on each channel, and
/// needs so long for an element. With fewer channels than multiprocessors the others stand
/// still. 0 where other kernels run: channels_last, compiled code, CPUs, AMD's GPUs.
/// Source: 504 kernels of 12 networks on an H100 (docs/measured/h100); how: docs/models/kernel_time.md.
double batch_norm_block_seconds(const Operator& op, const KernelContext& context, double samples);

/// How often cuDNN's batch norm moves the operator's tensors: once where a block keeps its channel in shared
/// memory and registers, else `otherwise` times.
double batch_norm_passes(const Operator& op, const KernelContext& context, double samples, double otherwise);

/// Least seconds of PyTorch's pooling kernels: each visit of a window takes so many clocks of a
/// multiprocessor, index arithmetic most of all. Same source. 0 as above.
double pooling_visit_seconds(const Operator& op, const KernelContext& context, double samples);

/// Seconds of PyTorch's own depthwise kernels: windows of at most 5 x 5 in channels_first layout, in 32 bits,
/// and in 16 where they have a stride. 0 where cuDNN's run. Same source.
double depthwise_seconds(const Operator& op, const Product& product, const KernelContext& context,
                         double samples);

}  // namespace foretrain
