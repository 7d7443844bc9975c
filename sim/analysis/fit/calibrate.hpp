// From samples to a calibration: constants stage by stage, then each collective as it was measured.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// The order: host, links, memory, calls, matrix products, collectives, their tax on compute, training,
/// jitter; each with the constants before it in place (docs/models/calibration.md). What the cluster's file
/// already names as its calibration is not used. Samples that the model cannot predict, and those above what
/// wires and data sheets allow, are left out with the reason.
CalibrationFit calibrate(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                         const Progress& progress = nullptr);

/// "collective all_reduce, 8 GPUs on 1 node".
std::string describe(const Sample& sample);

}  // namespace foretrain
