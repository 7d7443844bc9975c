// Activations that wait for backward in host memory.
#pragma once

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// The same network with its kept activations moved to the host as `how` says: their lifetimes on the GPU end
/// once they are copied, and begin anew before backward reads them. Of a recomputed network (tape/recompute)
/// these are the inputs of its blocks. Nothing of the head and the loss is moved.
ExpandedModel with_offloaded_activations(const ExpandedModel& model, ActivationOffload how);

}  // namespace foretrain
