// Kernels that are limited by their arithmetic or their number of blocks, not by memory: batch norm, pooling
// and depthwise convolutions.
#pragma once

#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

/// Returns the least seconds of cuDNN's batch norm in channels_first layout. One block works on each channel
/// and needs a fixed time per element, so with fewer channels than multiprocessors the others are idle.
/// Returns 0 where other kernels run: channels_last, compiled code, CPUs and AMD's GPUs. Source: 504 kernels
/// of 12 networks on an H100 (docs/measured/h100); how: docs/models/kernels.md.
double batch_norm_block_seconds(const Operator& op, const KernelContext& context, double samples);

/// Returns how often cuDNN's batch norm moves the operator's tensors. It is once where a block keeps its
/// channel in shared memory and registers, and `otherwise` times elsewhere.
double batch_norm_passes(const Operator& op, const KernelContext& context, double samples, double otherwise);

/// Returns the least seconds of PyTorch's pooling kernels. Each visit of a window takes a fixed number of
/// clocks of a multiprocessor, most of them for index arithmetic. Same source; 0 on the same devices.
double pooling_visit_seconds(const Operator& op, const KernelContext& context, double samples);

/// Returns the seconds of PyTorch's own depthwise kernels, and 0 where cuDNN's run. They handle windows of at
/// most 5 x 5 in channels_first layout, in 32 bits, and in 16 bits where they have a stride. Same source.
double depthwise_seconds(const Operator& op, const Product& product, const KernelContext& context,
                         double samples);

}  // namespace foretrain
