// Strategy `single`: the plain training loop on one GPU.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Requires a placement of one rank; on more, every rank trains alone and nothing is exchanged.
Plan plan_single(const PlanRequest& request);
StrategyEntry single_strategy();

}  // namespace foretrain
