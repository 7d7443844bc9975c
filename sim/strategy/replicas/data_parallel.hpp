// Strategy `data_parallel`: torch.nn.DataParallel around the whole network.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// One process drives all GPUs of a node: every step copies the network to them, gathers their outputs on GPU
/// 0, which alone computes the loss of the whole batch, sums the gradients after all of backward, and runs
/// the optimizer (docs/models/data_parallel.md).
Plan plan_data_parallel(const PlanRequest& request);
StrategyEntry data_parallel_strategy();

// Strategy `data_parallel_layers`: a torch.nn.DataParallel of its own around each layer, as CHTC's first
// multi-GPU example has it.

/// Every layer scatters its input from GPU 0 and gathers its output there, forward and backward
/// (docs/models/data_parallel.md).
Plan plan_data_parallel_layers(const PlanRequest& request);
StrategyEntry data_parallel_layers_strategy();

}  // namespace foretrain
