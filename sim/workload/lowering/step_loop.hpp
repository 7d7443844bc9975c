// Layers that a script runs one row at a time in a loop: every operator's work in as many calls as there are
// steps.
#pragma once

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// The same work in `steps` calls: kernels and calls so often, products of one row after the other, weights
/// read at every step.
Operator in_steps(Operator op, double steps);

/// The operator that adds the gradients of `elements` of weights from all steps but the first.
Operator sum_over_steps(double elements, double steps);

}  // namespace foretrain
