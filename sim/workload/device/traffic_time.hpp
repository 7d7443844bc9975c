// What every kernel is made of besides arithmetic: bytes that move, overlap, a fixed part.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {

double achieved_bandwidth(const Gpu& gpu);

/// Part of the cache holds what the last kernels wrote; that share of the traffic runs at the cache's speed.
double memory_seconds(double bytes, const Gpu& gpu, const KernelCalibration& calibration);

/// (a^p + b^p)^(1/p): the longer of two where they overlap wholly, their sum for p = 1.
double overlapped(double arithmetic, double memory, double power);

/// Of launches alone.
double fixed_seconds(int kernels, const KernelCalibration& calibration);

}  // namespace foretrain
