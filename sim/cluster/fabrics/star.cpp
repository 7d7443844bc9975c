// Star: one switch that never blocks. Every NIC has its own link to it.
#include "sim/cluster/fabrics/nic_links.hpp"

namespace foretrain {

namespace {

std::vector<ClusterFault> check_star(const ClusterSpec&) { return {}; }

void build_star(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  parts.vertices.push_back({VertexKind::leaf, -1, 0});
  add_nic_links(spec, site, site.nodes, parts.links);
}

int route_star(const FabricSpec&, const FabricSite& site, FabricPort from, FabricPort to,
               std::vector<LinkId>& links) {
  links.push_back(link_up(site, from));
  links.push_back(link_down(site, to));
  return 1;
}

}  // namespace

Fabric star_fabric() { return {"star", "one non-blocking switch", check_star, build_star, route_star, {}}; }

}  // namespace foretrain
