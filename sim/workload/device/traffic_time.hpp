// The parts of a kernel's time besides arithmetic: bytes that move, overlap, and a fixed part.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {

/// Returns the memory bandwidth that kernels reach, in bytes a second.
double achieved_bandwidth(const Gpu& gpu);

/// Returns the seconds to move bytes. Part of the cache holds what the last kernels wrote; that share of the
/// traffic runs at the cache's speed.
double memory_seconds(double bytes, const Gpu& gpu, const KernelCalibration& calibration);

/// Returns (a^p + b^p)^(1/p): nearly the longer of two that overlap wholly, and their sum for p = 1.
double overlapped(double arithmetic, double memory, double power);

/// Returns the seconds of launches alone.
double fixed_seconds(int kernels, const KernelCalibration& calibration);

}  // namespace foretrain
