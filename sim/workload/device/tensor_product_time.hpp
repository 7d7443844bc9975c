// Time of one large product of 16 or 8 bit on tensor cores, as cuBLAS runs it since Ampere.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/kernel_calibration.hpp"
#include "sim/workload/device/tensor_cores.hpp"

namespace foretrain {

/// `count` products of m x k by k x n in one launch, with results of 16 bit.
struct TensorProduct {
  double m = 0, n = 0, k = 0, count = 1;
  double element_bytes = 2;
  double aligned_bytes = 16;  ///< every row of operands and results begins at a multiple of it
};

/// Rate of the tensor cores of a GPU.
struct TensorRate {
  double flops_per_clock = 0;  ///< rate of one multiprocessor by the data sheet
  double clock = 0;            ///< Hz, sustained
  double share = 1;            ///< share of that rate that the best product reaches
};

/// Returns the rate for operands of this many bytes (1: fp8 where the GPU has it). `share` follows a
/// calibration's gemm.half or gemm.fp8.
TensorRate tensor_rate(const Gpu& gpu, const TensorCores& cores, double element_bytes,
                       const KernelCalibration& calibration);

/// Returns the time of one kind of tile over that of its multiplications, at least 1. Operands come through
/// registers, or from shared memory while the tensor cores work. `bytes_per_clock` is what the arithmetic
/// takes in at intensity 1.
double operand_loss(const Tile& tile, const TensorCores& cores, double bytes_per_clock,
                    const KernelCalibration& calibration);

/// Returns the seconds from launch to launch: gap + (arithmetic^p + memory^p)^(1/p). Arithmetic is the least
/// over tiles and splits of the depth of waves x (k / split) x tile's clocks + prologues + partial sums
/// (docs/models/kernels.md). Returns 0 for sizes that are not positive.
double tensor_product_seconds(const TensorProduct& product, const Gpu& gpu, const TensorCores& cores,
                              const KernelCalibration& calibration);

/// Returns memory's part alone, for operands read once and results written once.
double product_memory_seconds(double bytes, const Gpu& gpu);

}  // namespace foretrain
