// The loop of a validation pass: batches, forward, loss; no gradients.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// `request.steps` batches on one rank; ranks share the samples and exchange nothing.
Plan plan_evaluation(const PlanRequest& request);

}  // namespace foretrain
