// Which samples decide which constants, stage by stage.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

// Fits constants of the model to samples: the model itself predicts them, least squares moves the constants.

/// A constant to be fitted, from its value in the model as it stands. Its range may be narrower than the
/// table's on one cluster.
struct WantedConstant {
  ConstantRange range;
  double start = 0;
};

/// Constants that one stage of the fit determined, and those that ran into a physical limit.
struct ConstantFit {
  std::vector<CalibratedConstant> constants;  ///< those that the samples say something about
  std::vector<double> defaults;               ///< that each of them replaces
  std::vector<std::string> refused;           ///< at the limit of what physics allows
};

/// `cluster` carries what was fitted before; samples must all be predictable on it, with a positive value.
ConstantFit fit_constants(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                          std::vector<WantedConstant> wanted, SampleContext& context);
/// The same with nothing known before.
ConstantFit fit_constants(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                          std::vector<WantedConstant> wanted);

/// A stage of the fit: the samples that it takes, and the constants that they determine. Stages run in order;
/// each uses the values of those before it.
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
