// The constants of the kernel-time formulas, one set per architecture family.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// Fractions of peak that kernels of one class reach when large, per kind of arithmetic.
struct ComputeEfficiency {
  double fp32 = 0.7;   ///< CUDA cores
  double tf32 = 0.35;  ///< tensor cores, fp32 data
  double half = 0.45;  ///< tensor cores, 16-bit data
  double fp8 = 0.4;    ///< tensor cores, 8-bit data
  friend bool operator==(const ComputeEfficiency&, const ComputeEfficiency&) = default;
};

/// What makes a small or narrow product slower than a large one (product_time).
struct ProductCosts {
  /// Times a tile's operands pass the multiprocessor's 128-byte-a-clock shared memory.
  double operand_loading = 1.3;
  double prologue_depth = 77;  ///< depth's worth of time to fill and drain a tile's pipeline
  // The same on CUDA cores since Pascal.
  double core_prologue_depth = 8;
  double operand_bytes_per_clock = 9.1;  ///< that reach a multiprocessor while a tile waits for them
  friend bool operator==(const ProductCosts&, const ProductCosts&) = default;
};

/// Everything the kernel-time formula needs besides the data sheet. Defaults: docs/models/kernel_time.md with
/// their sources.
struct KernelCalibration {
  ComputeEfficiency conv, gemm, attention;
  double depthwise_conv = 0.055;  ///< of the fp32 peak
  double winograd = 0.65;         ///< of the fp32 peak, by fused Winograd kernels
  ProductCosts product;
  double roofline_power = 2.7;  ///< p of (arithmetic^p + memory^p)^(1/p): how well the two overlap
  double cache_speed = 2.5;     ///< cache bandwidth / memory bandwidth
  Time launch_gap{};            ///< between two kernels of one stream
  Time minimum{};               ///< shortest kernel
  Time serial_step{};           ///< between two dependent steps of a recurrent kernel
  /// How often normalization really moves what Operator::bytes counts once: statistics first, then the
  /// result.
  double normalization_forward_passes = 1.5, normalization_backward_passes = 5.0 / 3;
  /// Over the tensors of a 16-bit convolution in channels-first layout, and over what Winograd's transforms
  /// rearrange: read and write each, padded
  double transpose_passes = 3.0;
  double time_scale = 1;  ///< anchor: measured / predicted
  friend bool operator==(const KernelCalibration&, const KernelCalibration&) = default;
};

/// Defaults of a GPU's family: its architecture, where consumer and workstation Ampere (8.6) stands apart.
KernelCalibration default_kernel_calibration(const Gpu& gpu);

/// `calibration` with the 16-bit matrix products of the cuBLAS in this CUDA toolkit; 0.0 is one of today.
/// Source: docs/models/transformer_kernels.md, "Older libraries".
KernelCalibration with_library(KernelCalibration calibration, const Gpu& gpu, const FrameworkVersion& cuda);

}  // namespace foretrain
