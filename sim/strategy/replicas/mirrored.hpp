// Strategy `mirrored`: tf.distribute.MirroredStrategy, one process for all GPUs of a node.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Every GPU holds all weights and updates them itself; gradients are packed, summed across the GPUs and
/// taken apart (docs/models/mirrored.md).
Plan plan_mirrored(const PlanRequest& request);

/// Its row of the catalog.
StrategyEntry mirrored_strategy();

// Strategy `multi_worker_mirrored`: tf.distribute.MultiWorkerMirroredStrategy, one process per node.

/// As `mirrored`, with the sum over all GPUs of all nodes: NCCL, or TensorFlow's ring over gRPC
/// (docs/models/mirrored.md).
Plan plan_multi_worker_mirrored(const PlanRequest& request);

/// Its row of the catalog.
StrategyEntry multi_worker_mirrored_strategy();

}  // namespace foretrain
