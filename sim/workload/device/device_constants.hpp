// The constants of kernels and of the host's calls that a calibration may replace, by name.
#pragma once

#include <string_view>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {

/// Returns the constants of kernels by name: "gemm.half", "kernel.minimum", ….
const std::vector<ConstantOf<KernelCalibration>>& kernel_constants();

/// Name of HostCalibration::time_scale. Whole training steps determine it, single calls do not.
inline constexpr std::string_view kHostTimeScale = "host.time_scale";

/// Returns the constants of host calls by name: "host.launch", … on the reference CPU, and kHostTimeScale.
const std::vector<ConstantOf<HostCalibration>>& host_call_constants();

/// Returns the constants of the GPU's family with the libraries of this CUDA toolkit (0.0: those of today),
/// replaced by the constants that were measured on the cluster.
KernelCalibration kernel_calibration_of(const ClusterSpec& cluster, const FrameworkVersion& cuda = {0, 0});

}  // namespace foretrain
