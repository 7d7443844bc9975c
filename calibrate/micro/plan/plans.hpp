// Which points each family measures on a machine; pure functions, without a GPU.
#pragma once

#include <vector>

#include "calibrate/micro/plan/machine.hpp"
#include "calibrate/micro/plan/point.hpp"

namespace foretrain::micro {

/// Host work: us each. graph_launch and graph_kernel have the setting kernels, sync_wake wait=spin|block.
std::vector<Point> plan_host(const Machine& machine);

/// Copies: us until all copies of a point are done, of `bytes` each (both_ways=1: in each direction). src and
/// dst name GPUs, "0+1" several at once (then also together=2); engine=ce; peer=0: through host memory though
/// there might be a peer path.
std::vector<Point> plan_copy(const Machine& machine);

/// Kernels that read and write `bytes` in all: us each.
std::vector<Point> plan_memory(const Machine& machine);

/// C (m x n) = A (m x k) B (k x n), all column-major and not transposed, `count` of them side by side: us
/// each call.
std::vector<Point> plan_gemm(const Machine& machine);

/// Convolutions with padding kernel / 2: us each call.
std::vector<Point> plan_conv(const Machine& machine);

/// The operators of one training step (forward and backward, no optimizer): us for all of them.
std::vector<Point> plan_mix(const Machine& machine);

/// Collectives: us each; bytes as nccl-tests counts. Only those whose NCCL_* variables this process has,
/// unless it may spawn.
std::vector<Point> plan_collective(const Machine& machine);

/// How much longer a product or a memory-bound kernel takes on GPU 0 while all GPUs all-reduce `bytes`,
/// always kTaxedMessage: a share.
inline constexpr std::int64_t kTaxedMessage = 64 << 20;
std::vector<Point> plan_tax(const Machine& machine);

/// memcpy: us, of `bytes` in each thread; decode: images per s of all threads; python_loop, torch_dispatch:
/// us each.
std::vector<Point> plan_cpu(const Machine& machine);

/// Whether the GPU computes in it: fp32, tf32, fp16, bf16, fp64.
bool supports_precision(const GpuFacts& gpu, std::string_view precision);

}  // namespace foretrain::micro
