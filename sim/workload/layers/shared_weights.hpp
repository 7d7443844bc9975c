// Weights that several layers share: their gradients are summed, and ready with the last of them.
#pragma once

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Where a parameter is announced as ready by several backward steps, leaves it only at the last and adds, at
/// each but the first, the operator that sums the gradients (in place before the parameter and those
/// announced after it).
void settle_shared_weights(ExpandedModel& model);

/// A weight registered ahead by a `parameter` layer must be used by a layer of its label, or its gradient
/// never comes.
std::vector<ModelFault> check_declared_weights(const Model& model);

/// A parameter whose gradient no backward step makes: a `parameter` that is a bias of layers without one.
/// nullptr when there is none.
const Parameter* find_untrained(const ExpandedModel& model);

// Networks whose batch is counted in parts of an input: tokens of a sentence instead of sentences.

/// Makes one sample the `parts`-th part of what was one sample: everything that grows with the batch is
/// divided.
void divide_sample(ExpandedModel& model, std::int64_t parts);

}  // namespace foretrain
