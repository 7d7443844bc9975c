// Activation offload: activations that wait for backward in host memory.
#pragma once

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Returns the same network with kept activations moved to the host as `how` says. Their lifetimes on the GPU
/// end once they are copied and begin again before backward reads them. The moved tensors of a recomputed
/// network (tape/recompute) are the inputs of its blocks. Nothing of the head and the loss is moved. The
/// network is returned unchanged for `none` and for an empty one.
ExpandedModel with_offloaded_activations(const ExpandedModel& model, ActivationOffload how);

}  // namespace foretrain
