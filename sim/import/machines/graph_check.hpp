// What NCCL itself found, as its graph dump tells, against what our search finds on the same node.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/graph.hpp"

namespace foretrain {

/// A line for each graph of the dump: number of channels, their rates and their order, alike or how not.
/// `graphs` with adapters in their channels are of several nodes. Needs a node with more than one GPU.
std::vector<std::string> graph_checks(const ClusterSpec& cluster,
                                      const std::vector<nccl::GraphResult>& graphs);

}  // namespace foretrain
