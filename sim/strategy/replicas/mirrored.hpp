// Strategy `mirrored`: tf.distribute.MirroredStrategy, one process for all GPUs of a node.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Every GPU holds all weights and updates them itself; gradients are packed, summed across the GPUs and
/// taken apart (docs/models/mirrored.md).
Plan plan_mirrored(const PlanRequest& request);

/// Its row of the catalog.
StrategyEntry mirrored_strategy();

}  // namespace foretrain
