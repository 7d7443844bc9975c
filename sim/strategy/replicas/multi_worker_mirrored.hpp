// Strategy `multi_worker_mirrored`: tf.distribute.MultiWorkerMirroredStrategy, one process per node.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// As `mirrored`, with the sum over all GPUs of all nodes: NCCL, or TensorFlow's ring over gRPC
/// (docs/models/mirrored.md).
Plan plan_multi_worker_mirrored(const PlanRequest& request);

/// Its row of the catalog.
StrategyEntry multi_worker_mirrored_strategy();

}  // namespace foretrain
