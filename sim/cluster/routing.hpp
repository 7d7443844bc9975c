// Routes inside a node: NVLink where it leads, otherwise over PCIe switches and CPUs.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/node_layout.hpp"

namespace foretrain {

/// A route from its links: latency is their sum, bandwidth the smallest, efficiency that of the narrowest.
Route make_route(std::vector<LinkId> links, std::span<const ClusterLink> all);

/// The route between every two devices, by from * vertices + to; a route without links between two different devices means that there
/// is none. GPU to GPU: fewest NVLinks, passing NVSwitches but no GPU; else over PCIe switches and CPUs, never through a GPU or a
/// NIC. Without `peer_access` such a route is staged: up to the memory of the sender's CPU and down again, at half the efficiency.
/// Where several links join one pair, the one with the highest bandwidth counts. Ties go to the path found first in device order.
std::vector<Route> node_routes(const NodeGraph& node, bool peer_access);

}  // namespace foretrain
