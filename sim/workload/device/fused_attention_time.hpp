// Time of one fused (flash) attention kernel on tensor cores whose kernels were measured.
#pragma once

#include <cstdint>

#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/kernel_calibration.hpp"
#include "sim/workload/device/tensor_cores.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// A call of a fused (flash) attention kernel over `batch` sequences. Under `causal` a query sees the keys up
/// to its own place, and the last query all of them. `heads` of queries share `kv_heads` of keys and values.
struct FlashAttention {
  std::int64_t batch = 1, query_length = 1, key_length = 1;
  std::int64_t heads = 1, kv_heads = 1, head_dim = 64;
  bool causal = true;
  bool backward = false;  ///< all three gradients, with the scores computed again: 2.5 times the arithmetic
  AttentionKernel kernel = AttentionKernel::newest;
  double window_share = 1;  ///< share of the pairs that the causal mask leaves within a sliding window
};

/// Returns the FLOPs of the call, two for each multiply-add. Under a causal mask only the scores that it
/// leaves count.
double flash_attention_flops(const FlashAttention& attention);

/// Bytes of a call, divided by when they move.
struct AttentionTraffic {
  double beside = 0;  ///< bytes that move while the scores are worked on
  double apart = 0;   ///< bytes of kernels before and after
};
/// Returns the bytes of the call, for 16-bit tensors.
AttentionTraffic traffic_of(const FlashAttention& attention);

/// Returns the seconds from the first launch to the next kernel's, in 16 bit, before
/// KernelCalibration::time_scale. Formula and constants: docs/models/kernels.md. Returns 0 for
/// sizes that are not positive.
double fused_attention_seconds(const FlashAttention& attention, const Gpu& gpu, const TensorCores& cores,
                               const KernelCalibration& calibration);

}  // namespace foretrain
