// Strategy `ddp`: torch.nn.parallel.DistributedDataParallel.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// One process per GPU, gradients in buckets, each all-reduced as soon as it is complete, overlapping the
/// rest of backward (docs/models/ddp.md). On one GPU the model is not wrapped unless
/// DdpOptions::wrap_one_gpu, and never with DdpOptions::wrapped off.
Plan plan_ddp(const PlanRequest& request);
StrategyEntry ddp_strategy();

}  // namespace foretrain
