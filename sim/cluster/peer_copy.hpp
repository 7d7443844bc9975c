// What copies between two GPUs of a node reach of the links' rate.
#pragma once

namespace foretrain {

class Cluster;
struct Route;

/// Share of the route's bandwidth that a copy engine reaches from one GPU to another: all of it over NVLink
/// and PCIe switches, kRootComplexShare where two PCIe links meet in a CPU. Staged routes have their rate in
/// their staging links, so theirs is 1. Requires a route between GPUs of one node.
double peer_copy_share(const Cluster& cluster, const Route& route);

}  // namespace foretrain
