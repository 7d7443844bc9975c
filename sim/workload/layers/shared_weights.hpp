// Weights that several layers share: their gradients are summed, and are ready with the last of them.
#pragma once

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Makes a parameter that several backward steps announce as ready, ready at the last of them only. Each
/// announcement but the first gets an operator that sums the gradients, placed before the parameter and those
/// announced after it. Linear in backward steps and parameters.
void settle_shared_weights(ExpandedModel& model);

/// Returns a fault for each weight that a `parameter` layer registers and no layer of its label uses: its
/// gradient would never come.
std::vector<ModelFault> check_declared_weights(const Model& model);

/// Returns a parameter whose gradient no backward step makes, such as a declared bias of layers without one;
/// nullptr when there is none.
const Parameter* find_untrained(const ExpandedModel& model);

/// Makes one sample the `parts`-th part of the former sample: everything that grows with the batch is
/// divided. It serves networks whose batch counts tokens of a sentence instead of sentences.
void divide_sample(ExpandedModel& model, std::int64_t parts);

}  // namespace foretrain
