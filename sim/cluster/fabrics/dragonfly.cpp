// Groups of routers: all routers of a group are joined, and every two groups by global_links links. Minimal
// routing takes at most a link in the first group, one between groups and one in the last; the receiving NIC
// chooses among the links between two groups. What adaptive routing gains by detours over a third group is
// not modelled.
#include <fmt/format.h>

#include "sim/cluster/fabrics/group_links.hpp"
#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

/// The router of a NIC, counted over all groups. With spread NICs a block of as many routers as a node has
/// NICs serves the nodes of them all.
int router_of(const FabricSpec& spec, const FabricSite& site, FabricPort port) {
  if (!spec.spread_nics) return port.node / spec.nodes_per_router;
  return port.node / (spec.nodes_per_router * site.nics) * site.nics + port.nic;
}

int dragonfly_groups_for(int nodes, const FabricSpec& spec) {
  return (nodes - 1) / spec.nodes_per_router / spec.routers_per_group + 1;
}

LinkId local_links_of(const FabricSpec& spec) { return place_of_pair(0, spec.routers_per_group); }

/// From one router of a group to another; both are numbers inside the group.
LinkId local_link(const FabricSpec& spec, const FabricSite& site, int group, int from, int to) {
  const LinkId pair = static_cast<LinkId>(group) * local_links_of(spec) +
                      place_of_pair(std::min(from, to), std::max(from, to));
  return after_nic_links(site) + 2 * pair + (from < to ? 0 : 1);
}

LinkId dragonfly_global_link(const FabricSpec& spec, const FabricSite& site, int from, int to, int number) {
  const LinkId first = after_nic_links(site) +
                       2 * static_cast<LinkId>(dragonfly_groups_for(site.nodes, spec)) * local_links_of(spec);
  const LinkId pair = place_of_pair(std::min(from, to), std::max(from, to));
  return first + 2 * (pair * static_cast<LinkId>(spec.global_links) + static_cast<LinkId>(number)) +
         (from < to ? 0 : 1);
}

int router_at(const FabricSpec& spec, int group, int other, int number) {
  return gateway(group, other, number, spec.global_links, spec.groups, spec.routers_per_group);
}

std::vector<ClusterFault> check_dragonfly(const ClusterSpec& spec) {
  std::vector<ClusterFault> faults;
  const FabricSpec& fabric = spec.fabric;
  require_parameter(faults, "dragonfly", "groups", fabric.groups,
                    "groups = 24 is the number of groups of routers");
  require_parameter(faults, "dragonfly", "routers_per_group", fabric.routers_per_group,
                    "routers_per_group = 32, all joined to each other");
  require_parameter(faults, "dragonfly", "nodes_per_router", fabric.nodes_per_router,
                    "nodes_per_router = 2 puts all NICs of 2 nodes at a router");
  if (fabric.groups > 1)
    require_parameter(faults, "dragonfly", "global_links", fabric.global_links,
                      "global_links = 10 joins every two groups by 10 links");
  if (!faults.empty() || spec.nodes < 1) return faults;
  if (fabric.spread_nics && spec.node.nics > 0 && fabric.routers_per_group % spec.node.nics != 0)
    faults.push_back({fmt::format("{} routers of a group cannot be dealt out to {} NICs of a node",
                                  fabric.routers_per_group, spec.node.nics),
                      "with spread_nics, routers_per_group is a multiple of the NICs of a node"});
  const std::int64_t places =
      std::int64_t{fabric.groups} * fabric.routers_per_group * fabric.nodes_per_router;
  require_room(faults, "dragonfly", places, spec.nodes,
               "raise groups, routers_per_group or nodes_per_router");
  const double groups = dragonfly_groups_for(spec.nodes, fabric), routers = fabric.routers_per_group;
  require_few_links(faults, "dragonfly",
                    groups * routers * routers / 2 + groups * groups / 2 * fabric.global_links,
                    "lower routers_per_group or global_links");
  return faults;
}

void build_dragonfly(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const int groups = dragonfly_groups_for(site.nodes, spec), routers = spec.routers_per_group;
  for (int router = 0; router < groups * routers; ++router)
    parts.vertices.push_back({VertexKind::router, -1, router});
  for (int node = 0; node < site.nodes; ++node) {
    const VertexId first = site.first_nic + static_cast<VertexId>(node) * site.vertices_per_node;
    for (int nic = 0; nic < site.nics; ++nic)
      add_both_ways(parts.links, first + static_cast<VertexId>(nic),
                    site.first_switch + static_cast<VertexId>(router_of(spec, site, {node, nic})), spec.link);
  }
  const auto vertex = [&](int group, int router) {
    return site.first_switch + static_cast<VertexId>(group * routers + router);
  };
  for (int group = 0; group < groups; ++group) {
    for (int b = 1; b < routers; ++b) {
      for (int a = 0; a < b; ++a)
        add_both_ways(parts.links, vertex(group, a), vertex(group, b), uplink_of(spec), spec.parallel_links);
    }
  }
  for (int b = 1; b < groups; ++b) {
    for (int a = 0; a < b; ++a) {
      for (int i = 0; i < spec.global_links; ++i)
        add_both_ways(parts.links, vertex(a, router_at(spec, a, b, i)), vertex(b, router_at(spec, b, a, i)),
                      uplink_of(spec));
    }
  }
}

int route_dragonfly(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                    std::vector<LinkId>& links) {
  const int routers = spec.routers_per_group;
  const int from_router = router_of(spec, site, from), to_router = router_of(spec, site, to);
  const int from_group = from_router / routers, to_group = to_router / routers;
  const std::size_t before = links.size();
  const auto inside = [&](int group, int a, int b) {
    if (a != b) links.push_back(local_link(spec, site, group, a, b));
  };
  links.push_back(link_up(site, from));
  if (from_group == to_group) {
    inside(from_group, from_router % routers, to_router % routers);
  } else {
    const int number =
        static_cast<int>(path_number(spec, site, from, to) % static_cast<std::uint64_t>(spec.global_links));
    inside(from_group, from_router % routers, router_at(spec, from_group, to_group, number));
    links.push_back(dragonfly_global_link(spec, site, from_group, to_group, number));
    inside(to_group, router_at(spec, to_group, from_group, number), to_router % routers);
  }
  links.push_back(link_down(site, to));
  return static_cast<int>(links.size() - before) - 1;
}

}  // namespace

Fabric dragonfly_fabric() {
  return {"dragonfly",
          "groups of routers, all joined, and links between all groups: groups, routers_per_group, "
          "nodes_per_router, global_links",
          check_dragonfly,
          build_dragonfly,
          route_dragonfly,
          {"uplink", "groups", "routers_per_group", "nodes_per_router", "parallel_links", "global_links",
           "spread_nics"}};
}

}  // namespace foretrain
