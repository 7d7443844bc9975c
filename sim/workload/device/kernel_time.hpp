// How long a kernel runs: roofline per operator class, with efficiencies from a calibration or from data-sheet defaults.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/operators.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// Fractions of peak that kernels of one class reach when large, per kind of arithmetic.
struct ComputeEfficiency {
  double fp32 = 0.7;   ///< CUDA cores
  double tf32 = 0.35;  ///< tensor cores, fp32 data
  double half = 0.45;  ///< tensor cores, 16-bit data
};

/// Everything the kernel-time formula needs besides the data sheet. Defaults: docs/models/kernel_time.md with their sources.
struct KernelCalibration {
  ComputeEfficiency conv, gemm, depthwise_conv, attention;
  Time launch_gap{};  ///< between two kernels of one stream
  Time minimum{};     ///< shortest kernel
  /// How often normalization really moves what Operator::bytes counts once: statistics first, then the result.
  double normalization_forward_passes = 1.5, normalization_backward_passes = 5.0 / 3;
  double time_scale = 1;  ///< anchor: measured / predicted
};

/// Defaults of an architecture.
KernelCalibration default_kernel_calibration(Architecture architecture);

/// One operator at one batch size: the sum over its kernels of launch_gap + minimum + max(FLOPs / (peak x efficiency),
/// bytes / (bandwidth x efficiency)), times time_scale.
Time kernel_time(const Operator& op, const Gpu& gpu, const KernelCalibration& calibration, Precision precision, std::int64_t batch);

/// A kernel that only moves bytes (bucket copies, casts, optimizer launches).
Time memory_kernel_time(Bytes bytes, const Gpu& gpu, const KernelCalibration& calibration);

/// The peak rate the operator's arithmetic runs at under this precision on this GPU, 0 when it does no arithmetic of that kind.
FlopRate peak_rate(OperatorClass cls, const Gpu& gpu, Precision precision);

}  // namespace foretrain
