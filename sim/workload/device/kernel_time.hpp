// How long a kernel runs: matrix products in tiles, everything else by the bytes it moves, with constants of
// the GPU's family.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/kernel_calibration.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// What the kernels of a run share.
struct KernelContext {
  const Gpu& gpu;
  const KernelCalibration& calibration;
  Precision precision = Precision::fp32;
  Framework framework{};
  bool half_weights =
      false;  ///< in 16 bit everything but the loss runs in it, without casts (Workload::half_weights)
};

/// One operator at one batch size, time_scale times the sum of
///   kernels x (launch_gap + minimum),
///   for each matrix product (arithmetic^p + memory^p)^(1/p), with its arithmetic in tiles (product_time),
///   the rest of its bytes at the achieved bandwidth; bytes that fit the cache at the cache's;
/// or of the time that the operator states.
Time kernel_time(const Operator& op, const KernelContext& context, std::int64_t batch);
/// That sum, before time_scale.
double kernel_seconds(const Operator& op, const KernelContext& context, std::int64_t batch);

/// A kernel that only moves bytes (bucket copies, casts, optimizer launches).
Time memory_kernel_time(Bytes bytes, const Gpu& gpu, const KernelCalibration& calibration);

}  // namespace foretrain
