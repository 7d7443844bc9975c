// The constants of kernels and of the host's calls that a calibration may replace, by name.
#pragma once

#include <string_view>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {

/// "gemm.half", "kernel.minimum", …
const std::vector<ConstantOf<KernelCalibration>>& kernel_constants();

/// HostCalibration::time_scale, which whole training steps tell and single calls do not.
inline constexpr std::string_view kHostTimeScale = "host.time_scale";

/// "host.launch", …: on the reference CPU, as in HostCalibration; and kHostTimeScale.
const std::vector<ConstantOf<HostCalibration>>& host_call_constants();

/// Those of the GPU's family, replaced by those that were measured on the cluster.
KernelCalibration kernel_calibration_of(const ClusterSpec& cluster);

}  // namespace foretrain
