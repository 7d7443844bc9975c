// The constants of the kernel-time formulas: one set per architecture family.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// Fractions of the peak that large kernels of one class reach, per kind of arithmetic.
struct ComputeEfficiency {
  double fp32 = 0.7;   ///< CUDA cores
  double tf32 = 0.35;  ///< tensor cores, fp32 data
  double half = 0.45;  ///< tensor cores, 16-bit data
  double fp8 = 0.4;    ///< tensor cores, 8-bit data
  friend bool operator==(const ComputeEfficiency&, const ComputeEfficiency&) = default;
};

/// Costs that make a small or narrow product slower than a large one (product_time).
struct ProductCosts {
  /// Passes of a tile's operands through the multiprocessor's shared memory of 128 bytes a clock.
  double operand_loading = 1.3;
  double prologue_depth = 77;  ///< depth's worth of time to fill and drain a tile's pipeline
  // prologue_depth on CUDA cores since Pascal.
  double core_prologue_depth = 8;
  double operand_bytes_per_clock = 9.1;  ///< bytes that reach a multiprocessor while a tile waits for them
  friend bool operator==(const ProductCosts&, const ProductCosts&) = default;
};

/// The constants that the kernel-time formula needs besides the data sheet. Defaults and their sources:
/// docs/models/kernels.md.
struct KernelCalibration {
  ComputeEfficiency conv, gemm, attention;
  double depthwise_conv = 0.055;  ///< share of the fp32 peak
  double winograd = 0.65;         ///< share of the fp32 peak that fused Winograd kernels reach
  ProductCosts product;
  double roofline_power = 2.7;  ///< p of (arithmetic^p + memory^p)^(1/p): how well the two overlap
  double cache_speed = 2.5;     ///< cache bandwidth / memory bandwidth
  Time launch_gap{};            ///< between two kernels of one stream
  Time minimum{};               ///< shortest kernel
  Time serial_step{};           ///< between two dependent steps of a recurrent kernel
  /// Number of times that a normalization really moves the bytes that Operator::bytes counts once: statistics
  /// first, then the result.
  double normalization_forward_passes = 1.5, normalization_backward_passes = 5.0 / 3;
  /// Passes over the tensors of a 16-bit convolution in channels-first layout, and over the tensors that
  /// Winograd's transforms rearrange. Each is read and written, with padding.
  double transpose_passes = 3.0;
  double time_scale = 1;  ///< anchor: measured / predicted
  friend bool operator==(const KernelCalibration&, const KernelCalibration&) = default;
};

/// Returns the defaults of a GPU's family: its architecture, with consumer and workstation Ampere (8.6)
/// apart.
KernelCalibration default_kernel_calibration(const Gpu& gpu);

/// `calibration` with the 16-bit matrix products of the cuBLAS in this CUDA toolkit; 0.0 is one of today.
/// Source: docs/models/kernels.md, "Older libraries".
KernelCalibration with_library(KernelCalibration calibration, const Gpu& gpu, const FrameworkVersion& cuda);

}  // namespace foretrain
