// Which samples decide which constants, stage by stage.
#pragma once

#include <string_view>
#include <vector>

#include "sim/analysis/fit/constant_fit.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

struct CalibrationStage {
  std::string_view name;
  bool (*takes)(const Sample& sample);
  /// From the values that the cluster has so far.
  std::vector<WantedConstant> (*constants)(const ClusterSpec& cluster);
};

/// In the order in which they are fitted; a sample belongs to at most one.
const std::vector<CalibrationStage>& calibration_stages();

/// Why physics rules a sample out: above the wire, above the data sheet; empty when it does not.
std::string why_impossible(const ClusterSpec& cluster, const Sample& sample);

}  // namespace foretrain
