// A dragonfly: all routers of a group are joined, and every two groups by global_links links.
//
// Minimal routing takes at most one link in the first group, one between groups and one in the last. The
// receiving NIC chooses among the links between two groups. Detours over a third group, by which adaptive
// routing avoids congestion, are not modelled. Link numbers are closed forms: NIC links first, then local
// links by group, then global links by pair of groups.
#include "sim/cluster/fabrics/dragonfly.hpp"

#include <fmt/format.h>

#include "sim/cluster/fabrics/group_links.hpp"
#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

/// Returns the router of a NIC, counted over all groups. With spread NICs, a block of as many routers as a
/// node has NICs serves the nodes of all of them.
int router_of(const Dragonfly& own, const FabricSite& site, FabricPort port) {
  if (!own.spread_nics) return port.node / own.nodes_per_router;
  return port.node / (own.nodes_per_router * site.nics) * site.nics + port.nic;
}

/// Returns how many groups the nodes in use need.
int dragonfly_groups_for(int nodes, const Dragonfly& own) {
  return (nodes - 1) / own.nodes_per_router / own.routers_per_group + 1;
}

/// Returns the number of pairs of routers in a group.
LinkId local_links_of(const Dragonfly& own) { return place_of_pair(0, own.routers_per_group); }

/// Returns the link from one router of a group to another; both are numbers inside the group.
LinkId local_link(const Dragonfly& own, const FabricSite& site, int group, int from, int to) {
  const LinkId pair = static_cast<LinkId>(group) * local_links_of(own) +
                      place_of_pair(std::min(from, to), std::max(from, to));
  return after_nic_links(site) + 2 * pair + (from < to ? 0 : 1);
}

/// Returns link `number` from one group to another.
LinkId dragonfly_global_link(const Dragonfly& own, const FabricSite& site, int from, int to, int number) {
  const LinkId first = after_nic_links(site) +
                       2 * static_cast<LinkId>(dragonfly_groups_for(site.nodes, own)) * local_links_of(own);
  const LinkId pair = place_of_pair(std::min(from, to), std::max(from, to));
  return first + 2 * (pair * static_cast<LinkId>(own.global_links) + static_cast<LinkId>(number)) +
         (from < to ? 0 : 1);
}

/// Returns the router of `group` at which link `number` to group `other` begins.
int router_at(const Dragonfly& own, int group, int other, int number) {
  return gateway(group, other, number, own.global_links, own.groups, own.routers_per_group);
}

std::vector<ClusterFault> check_dragonfly(const ClusterSpec& spec) {
  const Dragonfly& own = spec.fabric.get<Dragonfly>();
  std::vector<ClusterFault> faults;
  require_parameter(faults, "dragonfly", "groups", own.groups,
                    "groups = 24 is the number of groups of routers");
  require_parameter(faults, "dragonfly", "routers_per_group", own.routers_per_group,
                    "routers_per_group = 32, all joined to each other");
  require_parameter(faults, "dragonfly", "nodes_per_router", own.nodes_per_router,
                    "nodes_per_router = 2 puts all NICs of 2 nodes at a router");
  if (own.groups > 1)
    require_parameter(faults, "dragonfly", "global_links", own.global_links,
                      "global_links = 10 joins every two groups by 10 links");
  if (!faults.empty() || spec.nodes < 1) return faults;
  if (own.spread_nics && spec.node.nics > 0 && own.routers_per_group % spec.node.nics != 0)
    faults.push_back({fmt::format("{} routers of a group cannot be dealt out to {} NICs of a node",
                                  own.routers_per_group, spec.node.nics),
                      "with spread_nics, routers_per_group is a multiple of the NICs of a node"});
  // 64 bits, so that the product of user-given counts cannot overflow.
  const std::int64_t places = std::int64_t{own.groups} * own.routers_per_group * own.nodes_per_router;
  require_capacity(faults, "dragonfly", places, spec.nodes,
                   "raise groups, routers_per_group or nodes_per_router");
  const double groups = dragonfly_groups_for(spec.nodes, own), routers = own.routers_per_group;
  require_few_links(faults, "dragonfly",
                    groups * routers * routers / 2 + groups * groups / 2 * own.global_links,
                    "lower routers_per_group or global_links");
  return faults;
}

void build_dragonfly(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const Dragonfly& own = spec.get<Dragonfly>();
  const int groups = dragonfly_groups_for(site.nodes, own), routers = own.routers_per_group;
  for (int router = 0; router < groups * routers; ++router)
    parts.vertices.push_back({VertexKind::router, -1, router});
  for (int node = 0; node < site.nodes; ++node) {
    const VertexId first = site.first_nic + static_cast<VertexId>(node) * site.vertices_per_node;
    for (int nic = 0; nic < site.nics; ++nic)
      add_both_directions(parts.links, first + static_cast<VertexId>(nic),
                          site.first_switch + static_cast<VertexId>(router_of(own, site, {node, nic})),
                          spec.link);
  }
  const auto vertex = [&](int group, int router) {
    return site.first_switch + static_cast<VertexId>(group * routers + router);
  };
  for (int group = 0; group < groups; ++group) {
    for (int b = 1; b < routers; ++b) {
      for (int a = 0; a < b; ++a)
        add_both_directions(parts.links, vertex(group, a), vertex(group, b), uplink_of(spec),
                            own.parallel_links);
    }
  }
  for (int b = 1; b < groups; ++b) {
    for (int a = 0; a < b; ++a) {
      for (int i = 0; i < own.global_links; ++i)
        add_both_directions(parts.links, vertex(a, router_at(own, a, b, i)),
                            vertex(b, router_at(own, b, a, i)), uplink_of(spec));
    }
  }
}

int route_dragonfly(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                    std::vector<LinkId>& links) {
  const Dragonfly& own = spec.get<Dragonfly>();
  const int routers = own.routers_per_group;
  const int from_router = router_of(own, site, from), to_router = router_of(own, site, to);
  const int from_group = from_router / routers, to_group = to_router / routers;
  const std::size_t before = links.size();
  const auto inside = [&](int group, int a, int b) {
    if (a != b) links.push_back(local_link(own, site, group, a, b));
  };
  links.push_back(link_up(site, from));
  if (from_group == to_group) {
    inside(from_group, from_router % routers, to_router % routers);
  } else {
    const int number =
        static_cast<int>(path_number(spec, site, from, to) % static_cast<std::uint64_t>(own.global_links));
    inside(from_group, from_router % routers, router_at(own, from_group, to_group, number));
    links.push_back(dragonfly_global_link(own, site, from_group, to_group, number));
    inside(to_group, router_at(own, to_group, from_group, number), to_router % routers);
  }
  links.push_back(link_down(site, to));
  return static_cast<int>(links.size() - before) - 1;
}

}  // namespace

Fabric dragonfly_fabric() {
  return {
      "dragonfly",
      "groups of routers, all joined, and links between all groups: groups, routers_per_group, "
      "nodes_per_router, global_links",
      check_dragonfly,
      build_dragonfly,
      route_dragonfly,
      true,
      {{"groups", "required", "groups of routers", fabric_option<&Dragonfly::groups>()},
       {"routers_per_group", "required", "routers of a group, all joined",
        fabric_option<&Dragonfly::routers_per_group>()},
       {"nodes_per_router", "required", "nodes at a router", fabric_option<&Dragonfly::nodes_per_router>()},
       {"parallel_links", "1", "between two routers of a group; one fat link",
        fabric_option<&Dragonfly::parallel_links>(), 1, kThickestLink},
       {"global_links", "required", "links between two groups", fabric_option<&Dragonfly::global_links>()},
       {"spread_nics", "false", "the adapters of a node are at as many routers, those of one number at one",
        fabric_option<&Dragonfly::spread_nics>()}}};
}

}  // namespace foretrain
