// The links between NICs and their first switch. They are laid out alike in every fabric: two per NIC, before
// all other links.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Returns the link type between switches: `uplink`, or `link` if no uplink is given.
const LinkType& uplink_of(const FabricSpec& spec);

/// Returns the link from the NIC to its switch.
LinkId link_up(const FabricSite& site, FabricPort port);
/// Returns the link from the switch to the NIC.
LinkId link_down(const FabricSite& site, FabricPort port);
/// Returns the number of the first link after those of the NICs.
LinkId after_nic_links(const FabricSite& site);

/// Appends both directions of `count` parallel links, `from` to `to` first.
void add_both_directions(ClusterLinks& links, VertexId from, VertexId to, const LinkType& type,
                         int count = 1);
/// Connects every NIC of a node to vertex first_switch + node / nodes_per_switch.
void add_nic_links(const FabricSpec& spec, const FabricSite& site, int nodes_per_switch, ClusterLinks& links);

/// Returns a number by which fabrics choose among equally short routes, see PathChoice. It is the number of
/// the receiving NIC, which uses routes in turn for consecutive NICs, or a hash of both ends.
std::uint64_t path_number(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to);

}  // namespace foretrain
