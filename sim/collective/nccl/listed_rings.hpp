// The rings that RCCL takes from a list, where NCCL searches.
#pragma once

#include <optional>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/graph.hpp"
#include "sim/collective/nccl/node_map.hpp"

namespace foretrain::nccl {

/// On a board of eight GPUs with a link between every two, all of them in the job, rings that use each
/// direction of each link once: seven within the node, eight between nodes, where each GPU has an adapter of
/// its own. Only of links that say themselves what is booked for them (xGMI), as RCCL has no such lists for
/// NVLink. Nothing on other nodes.
std::optional<GraphResult> listed_rings(const NodeMap& map, const NodeSpec& node);

}  // namespace foretrain::nccl
