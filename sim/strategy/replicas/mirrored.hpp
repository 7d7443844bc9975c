// Strategies `mirrored` and `multi_worker_mirrored`: tf.distribute.MirroredStrategy, one process for all GPUs
// of a node, and MultiWorkerMirroredStrategy, one process per node.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Plans MirroredStrategy. Every GPU holds all weights and updates them itself; gradients are packed, summed
/// across the GPUs and split again (docs/models/replicated.md).
Plan plan_mirrored(const PlanRequest& request);

/// Returns the catalog row of `mirrored`.
StrategyEntry mirrored_strategy();

// Strategy `multi_worker_mirrored`: tf.distribute.MultiWorkerMirroredStrategy, one process per node.

/// Plans MultiWorkerMirroredStrategy: as `mirrored`, with the sum over all GPUs of all nodes by NCCL, or by
/// TensorFlow's ring over gRPC (docs/models/replicated.md).
Plan plan_multi_worker_mirrored(const PlanRequest& request);

/// Returns the catalog row of `multi_worker_mirrored`.
StrategyEntry multi_worker_mirrored_strategy();

}  // namespace foretrain
