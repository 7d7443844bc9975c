// The constants of kernels and of the host's calls that a calibration may replace, by name.
#pragma once

#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {

/// "gemm.half", "kernel.minimum", …
const std::vector<ConstantOf<KernelCalibration>>& kernel_constants();

/// "host.launch", …: on the reference CPU, as in HostCalibration.
const std::vector<ConstantOf<HostCalibration>>& host_call_constants();

/// Those of the GPU's family, replaced by those that were measured on the cluster.
KernelCalibration kernel_calibration_of(const ClusterSpec& cluster);

}  // namespace foretrain
