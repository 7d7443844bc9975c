// No fabric: a cluster of one node, without any route between nodes.
#include <cassert>

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

namespace {

std::vector<ClusterFault> check_none(const ClusterSpec& spec) {
  if (spec.nodes == 1) return {};
  return {{"more than one node needs a fabric",
           "add a fabric table with kind = \"star\" or \"fat_tree\" and the link of a NIC"}};
}

void build_none(const FabricSpec&, const FabricSite&, FabricParts) {}

int route_none(const FabricSpec&, const FabricSite&, FabricPort, FabricPort, std::vector<LinkId>&) {
  assert(false && "a cluster without a fabric has one node");
  return 0;
}

}  // namespace

Fabric no_fabric() { return {"none", "one node, no network", check_none, build_none, route_none, {}}; }

}  // namespace foretrain
