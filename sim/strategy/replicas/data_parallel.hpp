// Strategies `data_parallel` and `data_parallel_layers`: torch.nn.DataParallel.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Plans nn.DataParallel around the whole network. One process drives all GPUs of a node. Every step copies
/// the network to them and gathers their outputs on GPU 0, which alone computes the loss of the whole batch.
/// It then sums the gradients after all of backward and runs the optimizer on GPU 0
/// (docs/models/replicated.md).
Plan plan_data_parallel(const PlanRequest& request);
/// Returns the catalog row of `data_parallel`.
StrategyEntry data_parallel_strategy();

// Strategy `data_parallel_layers`: each layer has a torch.nn.DataParallel of its own, as in CHTC's first
// multi-GPU example.

/// Plans nn.DataParallel around each layer. Every layer scatters its input from GPU 0 and gathers its output
/// there, forward and backward (docs/models/replicated.md).
Plan plan_data_parallel_layers(const PlanRequest& request);
StrategyEntry data_parallel_layers_strategy();

}  // namespace foretrain
