// Collectives kept as they were measured, in place of the model's time, where that predicts them better.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// The identity of a curve: operation, GPUs, nodes, processes per node, forced algorithm and protocol.
using CollectiveKey = std::tuple<std::string, int, int, int, std::string, std::string>;
/// Returns the curve that a sample of a collective belongs to.
CollectiveKey key_of(const Sample& sample);

/// Curves of measured collectives that replace the model on their cluster, and curves that were refused.
struct MeasuredCollectives {
  std::vector<CalibratedCollective> curves;
  /// Curves whose sizes are too few or too far apart, with the reason.
  std::vector<std::string> refused;
};

/// Returns the curves to keep. `modelled` is the model's value for each sample with its fitted constants. A
/// curve of at least three sizes is kept, unless the model predicts every second size better than linear
/// pieces through the others do. The library may change its protocol between sizes far apart, which the model
/// knows and linear pieces do not.
MeasuredCollectives measured_collectives(const std::vector<Sample>& samples,
                                         const SamplePredictions& modelled);

}  // namespace foretrain
