// The fit of a calibration to samples: constants stage by stage, then each collective as it was measured.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Fits a calibration of the cluster. Stages run in this order: host, links, memory, calls, matrix products,
/// collectives, their tax on compute, training, jitter; each uses the constants of those before it
/// (docs/models/uncertainty.md). A calibration that the cluster's file names is not used.
///
/// Samples that the model cannot predict, and those above what wires and data sheets allow, are left out with
/// the reason. `progress` receives the finished share of stages.
CalibrationFit calibrate(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                         const Progress& progress = nullptr);

/// Returns the subject of a sample: "collective all_reduce, 8 GPUs on 1 node".
std::string describe(const Sample& sample);

}  // namespace foretrain
