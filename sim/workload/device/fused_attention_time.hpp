// How long one fused (flash) attention kernel runs on tensor cores whose kernels were measured.
#pragma once

#include <cstdint>

#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/kernel_calibration.hpp"
#include "sim/workload/device/tensor_cores.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// One call of a fused (flash) attention kernel over `batch` sequences. Causal: a query sees the keys up to
/// its own place, the last query all of them. Heads of queries share `kv_heads` of keys and values.
struct FlashAttention {
  std::int64_t batch = 1, query_length = 1, key_length = 1;
  std::int64_t heads = 1, kv_heads = 1, head_dim = 64;
  bool causal = true;
  bool backward = false;  ///< all three gradients, with the scores computed again: 2.5 times the arithmetic
  AttentionKernel kernel = AttentionKernel::newest;
  double window_share = 1;  ///< of the pairs that the causal mask leaves, those within a sliding window
};

/// Multiply-adds count two; of the half of the scores that a causal mask leaves.
double flash_attention_flops(const FlashAttention& attention);

/// Bytes that a kernel moves beside its scores, and those of the kernels before and after it.
struct AttentionTraffic {
  double beside = 0;  ///< bytes that move while the scores are worked on
  double apart = 0;   ///< those of kernels before and after
};
AttentionTraffic traffic_of(const FlashAttention& attention);

/// Seconds from the first launch to the next kernel's, in 16 bit, before KernelCalibration::time_scale;
/// formula and constants: docs/models/transformer_kernels.md. 0 for sizes that are not positive.
double fused_attention_seconds(const FlashAttention& attention, const Gpu& gpu, const TensorCores& cores,
                               const KernelCalibration& calibration);

}  // namespace foretrain
