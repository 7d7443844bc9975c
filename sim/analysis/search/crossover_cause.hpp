// Why N GPUs are less than N times as fast as one: what a step loses, by cause.
#pragma once

#include <string>

#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Against a step that trains the same samples with all `gpus` at the pace of one alone. What shrinks
/// meanwhile is taken off the others in proportion, so that the parts sum to the loss.
CrossoverCause cause_of_loss(PointPredictor& points, int gpus);

/// One sentence: what the step waits for beyond one GPU's step, at N GPUs.
std::string explain_loss(const Throughput& one, const Throughput& many, int gpus);

}  // namespace foretrain
