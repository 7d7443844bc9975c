// Strategy `single`: the plain training loop on one GPU.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Plans the plain loop. Requires a placement of one rank; on more, every rank trains alone and nothing is
/// exchanged.
Plan plan_single(const PlanRequest& request);
/// Returns the catalog row of `single`.
StrategyEntry single_strategy();

/// Plans the loop of a validation pass: batches, forward and loss, without gradients. It has `request.steps`
/// batches on one rank; ranks share the samples and exchange nothing.
Plan plan_evaluation(const PlanRequest& request);

}  // namespace foretrain
