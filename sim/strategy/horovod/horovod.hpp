// Strategy `horovod`: Horovod's DistributedOptimizer, one process per GPU with a background thread
// (docs/models/horovod.md).
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// One process: as `single`, since Horovod registers no hooks then (horovod/torch/optimizer.py).
Plan plan_horovod(const PlanRequest& request);
StrategyEntry horovod_strategy();

}  // namespace foretrain
