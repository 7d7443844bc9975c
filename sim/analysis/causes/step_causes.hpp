// The causes of a step's time, found by simulating the step again without each.
#pragma once

#include <vector>

#include "sim/analysis/causes/removal.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Costs about 2 x kRemovableCount simulations of a step.
StepCauses causes_of(PointPredictor& points, int gpus);

/// The parts of StepCauses::in_turn for a step on another number of GPUs, removed in the same order; the
/// seconds behind the last are its kernels.
std::vector<double> parts_in_order(PointPredictor& points, int gpus, const std::vector<CausePart>& order);

}  // namespace foretrain
