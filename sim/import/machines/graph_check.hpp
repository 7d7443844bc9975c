// Compares the channels that NCCL itself found, as its graph dump shows them, with those that foretrain's
// search finds on the same node.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/graph.hpp"

namespace foretrain {

/// Returns one line for each graph of the dump: number of channels, their rates and their order, and whether
/// they agree.
/// If a channel of `graphs` holds adapters, the dump is of several nodes, and two nodes are searched. Empty
/// for a node with one GPU.
std::vector<std::string> graph_checks(const ClusterSpec& cluster,
                                      const std::vector<nccl::GraphResult>& graphs);

}  // namespace foretrain
