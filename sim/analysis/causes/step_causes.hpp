// The causes of a step's time, found by simulating the step again without each of them.
#pragma once

#include <vector>

#include "sim/analysis/causes/removal.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Returns the causes of a step on `gpus`. It costs about 2 x kRemovableCount simulations of a step.
StepCauses causes_of(PointPredictor& points, int gpus);

/// Returns the parts of StepCauses::in_turn for a step on another number of GPUs, removed in the given order.
/// The entry after the last part is the kernels. The entries sum to the step.
std::vector<double> parts_in_order(PointPredictor& points, int gpus, const std::vector<CausePart>& order);

}  // namespace foretrain
