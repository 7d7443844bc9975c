// Strategy `data_parallel_layers`: a torch.nn.DataParallel of its own around each layer, as CHTC's first
// multi-GPU example has it.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Every layer scatters its input from GPU 0 and gathers its output there, forward and backward
/// (docs/models/data_parallel.md).
Plan plan_data_parallel_layers(const PlanRequest& request);
StrategyEntry data_parallel_layers_strategy();

}  // namespace foretrain
