// Collectives kept as they were measured, in place of the model's sum, where that predicts them better.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Operation, GPUs, nodes, processes per node, forced algorithm and protocol.
using CollectiveKey = std::tuple<std::string, int, int, int, std::string, std::string>;
CollectiveKey key_of(const Sample& sample);

/// Curves of measured collectives that replace the model on their cluster, and curves that were refused.
struct MeasuredCollectives {
  std::vector<CalibratedCollective> curves;
  std::vector<std::string> refused;  ///< curves whose sizes are too few or too far apart, and why
};

/// `modelled`: what the model with its fitted constants says of each sample. A curve of at least three sizes
/// is kept, unless every second size is predicted better by the model than by the pieces through the others:
/// between sizes far apart the library may change its protocol, which the model knows and straight pieces do
/// not.
MeasuredCollectives measured_collectives(const std::vector<Sample>& samples,
                                         const SamplePredictions& modelled);

}  // namespace foretrain
