// Routes inside a node: over NVLink if it connects the devices, otherwise over PCIe switches and CPUs.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/node_layout.hpp"

namespace foretrain {

/// Makes a route of its links. Latency is their sum, bandwidth the smallest, efficiency that of the narrowest
/// link.
Route make_route(std::vector<LinkId> links, std::span<const ClusterLink> all);
/// Makes a route of links whose sums are known.
Route route_of(std::vector<LinkId> links, const RouteSum& sum);

/// Returns the class of a route over PCIe, CPUs and socket links by the devices on it; LOC for no links. See
/// path_class.hpp.
PathClass route_class(std::span<const LinkId> way, std::span<const Vertex> vertices,
                      std::span<const ClusterLink> all);

/// Returns the class of the farthest GPU whose memory a GPU reads over PCIe; LOC if there is none. NCCL
/// trusts only the root complexes of AMD and POWER CPUs (src/graph/paths.cc: Intel and ARM up to PXB). GPUs
/// farther apart exchange data through host memory.
PathClass peer_reach(const NodeSpec& node);

/// Routes of one node, by from * vertices + to.
struct NodeRoutes {
  /// The routes that traffic takes.
  std::vector<Route> best;
  /// Routes over PCIe switches, CPUs and socket links alone, as if there were peer access.
  std::vector<Route> host;
};

/// Finds the routes between every two devices. A route without links between different devices means that
/// there is none.
///
/// GPU to GPU: the fewest NVLinks, through NVSwitches but no GPU; else over PCIe switches and CPUs, never
/// through a GPU or a NIC. A PCIe route beyond `peer_reach` is staged: up to the memory of the sender's CPU
/// and down again, over the staging links of both GPUs. If several links join one pair, the one with the
/// highest bandwidth counts. Ties go to the path found first in device order.
NodeRoutes node_routes(const NodeGraph& node, PathClass peer_reach);

class Cluster;
struct Route;

/// Returns the share of the route's bandwidth that a copy engine reaches from one GPU to another. It is 1
/// over NVLink and PCIe switches, and kRootComplexShare if two PCIe links meet in a CPU. It is 1 for staged
/// routes too, because their staging links have the reduced rate. Requires a route between GPUs of one node.
double peer_copy_share(const Cluster& cluster, const Route& route);

}  // namespace foretrain
