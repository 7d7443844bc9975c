// How long the large kernels of a transformer layer run, from plain sizes: one matrix product, one fused
// attention.
#pragma once

#include <cstdint>

#include "sim/workload/device/fused_attention_time.hpp"

namespace foretrain {

/// Type of the operands that the tensor cores multiply; fp4 in blocks of 16 with scales (NVFP4).
enum class KernelPrecision : std::uint8_t { fp16, bf16, fp8, fp4 };
/// Whether it is narrower than 16 bit: then heads and what is_half names stay in 16.
constexpr bool is_narrow(KernelPrecision precision) { return precision >= KernelPrecision::fp8; }

/// `count` products of m x k by k x n in one launch, results in 16 bit: seconds from the launch to the next
/// kernel's. On GPUs without such tensor cores at what they have instead. 0 for sizes that are not positive.
double gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                    KernelPrecision precision, const Gpu& gpu, const KernelCalibration& calibration);

/// In 16 bit (fp8 here is that of the products around it). 0 for sizes that are not positive.
double flash_attention_seconds(const FlashAttention& attention, KernelPrecision precision, const Gpu& gpu,
                               const KernelCalibration& calibration);

/// 16-bit activations to fp8 with a scale of their own (largest value first, then the conversion), before a
/// product: what it costs where the scale is not known from an earlier step.
double fp8_scaling_seconds(std::int64_t elements, const Gpu& gpu, const KernelCalibration& calibration);

}  // namespace foretrain
