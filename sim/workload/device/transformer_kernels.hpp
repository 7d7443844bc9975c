// Times of the large kernels of a transformer layer from plain sizes: one matrix product, one fused
// attention.
#pragma once

#include <cstdint>

#include "sim/workload/device/fused_attention_time.hpp"

namespace foretrain {

/// Type of the operands that the tensor cores multiply. fp4 is in blocks of 16 with scales (NVFP4).
enum class KernelPrecision : std::uint8_t { fp16, bf16, fp8, fp4 };
/// True for types narrower than 16 bit. Heads and whatever is_half names then stay in 16.
constexpr bool is_narrow(KernelPrecision precision) { return precision >= KernelPrecision::fp8; }

/// Returns the seconds of `count` products of m x k by k x n in one launch, with results in 16 bit, from the
/// launch to the next kernel's. A GPU without such tensor cores runs them on the units that it has. Returns 0
/// for sizes that are not positive.
double gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                    KernelPrecision precision, const Gpu& gpu, const KernelCalibration& calibration);

/// Returns the seconds of fused attention in 16 bit; fp8 here is the type of the products around it. Returns
/// 0 for sizes that are not positive.
double flash_attention_seconds(const FlashAttention& attention, KernelPrecision precision, const Gpu& gpu,
                               const KernelCalibration& calibration);

/// Returns the seconds to convert 16-bit activations to fp8 with a scale of their own, before a product: the
/// largest value is found first. This is the cost where no scale is known from an earlier step.
double fp8_scaling_seconds(std::int64_t elements, const Gpu& gpu, const KernelCalibration& calibration);

}  // namespace foretrain
