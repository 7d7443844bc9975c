// Strategy `data_parallel`: torch.nn.DataParallel around the whole network.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// One process drives all GPUs of a node: every step copies the network to them, gathers their outputs on GPU
/// 0, which alone computes the loss of the whole batch, sums the gradients after all of backward, and runs
/// the optimizer (docs/models/data_parallel.md).
Plan plan_data_parallel(const PlanRequest& request);
StrategyEntry data_parallel_strategy();

}  // namespace foretrain
