// The stages of a calibration: which samples determine which constants.
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

// Fits of the model's constants to samples: the model itself predicts them, and least squares moves the
// constants.

/// A constant to be fitted, starting from its value in the present model. Its range may be narrower than the
/// table's on one cluster.
struct WantedConstant {
  ConstantRange range;
  double start = 0;
};

/// The constants that one stage determined, and those that ran into a physical limit.
struct ConstantFit {
  /// Constants that the samples give information about.
  std::vector<CalibratedConstant> constants;
  /// Default that each of them replaces.
  std::vector<double> defaults;
  /// Constants at the limit of what physics allows.
  std::vector<std::string> refused;
};

/// Fits the wanted constants. `cluster` carries the constants of earlier stages; all samples must be
/// predictable on it, with a positive value. Each trial predicts all samples.
ConstantFit fit_constants(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                          std::vector<WantedConstant> wanted, SampleContext& context);
/// Does the same with an empty context.
ConstantFit fit_constants(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                          std::vector<WantedConstant> wanted);

/// A stage of the fit: the samples that it takes, and the constants that they determine. Stages run in order;
/// each uses the values of those before it.
struct CalibrationStage {
  std::string_view name;
  /// Returns true for samples that belong to this stage.
  bool (*takes)(const Sample& sample);
  /// Returns the constants of this stage, starting from the cluster's present values.
  std::vector<WantedConstant> (*constants)(const ClusterSpec& cluster);
};

/// Returns the stages in the order in which they are fitted; a sample belongs to at most one.
const std::vector<CalibrationStage>& calibration_stages();

/// Returns the reason why physics rules a sample out: above the wire's rate or the data sheet; empty when it
/// does not.
std::string why_impossible(const ClusterSpec& cluster, const Sample& sample);

}  // namespace foretrain
