// The rings that RCCL takes from a list, where NCCL searches.
#pragma once

#include <optional>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/graph.hpp"
#include "sim/collective/nccl/node_map.hpp"

namespace foretrain::nccl {

/// Returns rings that use each direction of each link once, for a board of eight GPUs with a link between
/// every two of them, all in the job. There are seven rings within the node, or eight between nodes if each
/// GPU has an adapter of its own. It applies only to links with a bandwidth of their own in their file
/// (xGMI), because RCCL has no such lists for NVLink. Returns nothing for other nodes.
std::optional<GraphResult> listed_rings(const NodeMap& map, const NodeSpec& node);

}  // namespace foretrain::nccl
