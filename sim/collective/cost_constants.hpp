// The constants of collectives that a calibration may replace, by name, and the costs of a cluster with its
// own in place.
#pragma once

#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/collective/costs.hpp"

namespace foretrain {

/// "nccl.kernel", "nccl.ring_step.ll", …
const std::vector<ConstantOf<CollectiveCosts>>& collective_constants();

/// Those of the GPU's generation, replaced by those that were measured on the cluster.
CollectiveCosts costs_of(const ClusterSpec& cluster);

}  // namespace foretrain
