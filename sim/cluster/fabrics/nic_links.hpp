// The links between NICs and their first switch, laid out alike in every fabric: two per NIC, before all other links.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// From the NIC to its switch.
LinkId link_up(const FabricSite& site, FabricPort port);
/// From the switch to the NIC.
LinkId link_down(const FabricSite& site, FabricPort port);
/// Where the links after those of the NICs begin.
LinkId after_nic_links(const FabricSite& site);

/// Appends both directions of a link, `from` to `to` first.
void add_both_ways(std::vector<ClusterLink>& links, VertexId from, VertexId to, const LinkType& type);
/// Connects every NIC of a node to vertex first_switch + node / nodes_per_switch.
void add_nic_links(const FabricSpec& spec, const FabricSite& site, int nodes_per_switch, std::vector<ClusterLink>& links);

}  // namespace foretrain
