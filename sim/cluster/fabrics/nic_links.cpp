// NIC links are numbered by node, then NIC, then direction.
#include "sim/cluster/fabrics/nic_links.hpp"

namespace foretrain {

LinkId link_up(const FabricSite& site, FabricPort port) {
  return site.first_link + 2 * static_cast<LinkId>(port.node * site.nics + port.nic);
}

LinkId link_down(const FabricSite& site, FabricPort port) { return link_up(site, port) + 1; }

LinkId after_nic_links(const FabricSite& site) { return link_up(site, {site.nodes, 0}); }

void add_both_ways(std::vector<ClusterLink>& links, VertexId from, VertexId to, const LinkType& type) {
  links.push_back({from, to, LinkKind::network, type.bandwidth, type.collective_efficiency, type.latency});
  links.push_back({to, from, LinkKind::network, type.bandwidth, type.collective_efficiency, type.latency});
}

void add_nic_links(const FabricSpec& spec, const FabricSite& site, int nodes_per_switch, std::vector<ClusterLink>& links) {
  for (int node = 0; node < site.nodes; ++node) {
    const VertexId first = site.first_nic + static_cast<VertexId>(node) * site.vertices_per_node;
    const VertexId to = site.first_switch + static_cast<VertexId>(node / nodes_per_switch);
    for (int nic = 0; nic < site.nics; ++nic) add_both_ways(links, first + static_cast<VertexId>(nic), to, spec.link);
  }
}

}  // namespace foretrain
