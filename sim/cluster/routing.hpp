// Routes inside a node: NVLink where it leads, otherwise over PCIe switches and CPUs.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/node_layout.hpp"

namespace foretrain {

/// A route from its links: latency is their sum, bandwidth the smallest, efficiency that of the narrowest.
Route make_route(std::vector<LinkId> links, std::span<const ClusterLink> all);
/// The same of links that are summed already.
Route route_of(std::vector<LinkId> links, const RouteSum& sum);

/// The class of a way over PCIe, CPUs and socket links by what stands on it; LOC for no links, see
/// path_class.hpp.
PathClass route_class(std::span<const LinkId> way, std::span<const Vertex> vertices,
                      std::span<const ClusterLink> all);

/// The farthest GPU whose memory a GPU reads over PCIe; LOC when none. NCCL trusts the root complexes of AMD
/// and POWER CPUs only (src/graph/paths.cc: Intel and ARM up to PXB), so that farther GPUs exchange data
/// through host memory.
PathClass peer_reach(const NodeSpec& node);

/// Routes of one node by from * vertices + to.
struct NodeRoutes {
  std::vector<Route> best;  ///< what traffic takes
  std::vector<Route> host;  ///< over PCIe switches, CPUs and socket links alone, as if there was peer access
};

/// The routes between every two devices; a route without links between two different devices means that there
/// is none. GPU to GPU: fewest NVLinks, passing NVSwitches but no GPU; else over PCIe switches and CPUs,
/// never through a GPU or a NIC. Such a route beyond `peer_reach` is staged: up to the memory of the sender's
/// CPU and down again, over the staging links of both GPUs. Where several links join one pair, the one with
/// the highest bandwidth counts. Ties go to the path found first in device order.
NodeRoutes node_routes(const NodeGraph& node, PathClass peer_reach);

// What copies between two GPUs of a node reach of the links' rate.

class Cluster;
struct Route;

/// Share of the route's bandwidth that a copy engine reaches from one GPU to another: all of it over NVLink
/// and PCIe switches, kRootComplexShare where two PCIe links meet in a CPU. Staged routes have their rate in
/// their staging links, so theirs is 1. Requires a route between GPUs of one node.
double peer_copy_share(const Cluster& cluster, const Route& route);

}  // namespace foretrain
