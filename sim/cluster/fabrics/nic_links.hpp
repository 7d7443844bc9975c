// The links between NICs and their first switch, laid out alike in every fabric: two per NIC, before all
// other links.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// The link type between switches: `uplink`, or `link` where it is not given.
const LinkType& uplink_of(const FabricSpec& spec);

/// From the NIC to its switch.
LinkId link_up(const FabricSite& site, FabricPort port);
/// From the switch to the NIC.
LinkId link_down(const FabricSite& site, FabricPort port);
/// Where the links after those of the NICs begin.
LinkId after_nic_links(const FabricSite& site);

/// Appends both directions of `count` parallel links, `from` to `to` first.
void add_both_directions(ClusterLinks& links, VertexId from, VertexId to, const LinkType& type,
                         int count = 1);
/// Connects every NIC of a node to vertex first_switch + node / nodes_per_switch.
void add_nic_links(const FabricSpec& spec, const FabricSite& site, int nodes_per_switch, ClusterLinks& links);

/// Chooses among equally short ways, see PathChoice: the number of the receiving NIC, which deals out
/// consecutive NICs in turn, or a hash.
std::uint64_t path_number(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to);

}  // namespace foretrain
