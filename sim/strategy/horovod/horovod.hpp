// Strategy `horovod`: Horovod's DistributedOptimizer, one process per GPU with a background thread
// (docs/models/replicated.md).
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Plans a job under Horovod. One process is planned as `single`, since Horovod registers no hooks then
/// (horovod/torch/optimizer.py).
Plan plan_horovod(const PlanRequest& request);
/// Returns the catalog's row, with the options that scenario files may set.
StrategyEntry horovod_strategy();

}  // namespace foretrain
