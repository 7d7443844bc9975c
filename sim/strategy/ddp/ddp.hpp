// Strategy `ddp`: torch.nn.parallel.DistributedDataParallel.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Plans one process per GPU. Gradients are put into buckets, and each bucket is all-reduced as soon as it is
/// complete, overlapping the rest of backward (docs/models/replicated.md). On one GPU the model is not
/// wrapped unless DdpOptions::wrap_one_gpu is set, and never with DdpOptions::wrapped off.
Plan plan_ddp(const PlanRequest& request);
/// Returns the catalog's row, with the options that scenario files may set.
StrategyEntry ddp_strategy();

}  // namespace foretrain
