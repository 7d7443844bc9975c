// The losses that a calibration may replace, by name.
#pragma once

#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/strategy/process/losses.hpp"

namespace foretrain {

/// "loss.rank_spread", …
const std::vector<ConstantOf<Losses>>& loss_constants();

/// Those of the GPU's generation, replaced by those that were measured on the cluster.
Losses losses_of(const ClusterSpec& cluster);

}  // namespace foretrain
