// Groups that are two-level fat trees, every two groups joined by global_links links between their spines
// (Shpiner et al. 2017, "Dragonfly+"). Every leaf has a link to every spine of its group, so a minimal route
// passes leaf, spine, spine, leaf, whatever link it takes.
#include "sim/cluster/fabrics/group_links.hpp"
#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

int leaves_for(int nodes, const FabricSpec& spec) { return (nodes - 1) / spec.nodes_per_leaf + 1; }
int dragonfly_plus_groups_for(int nodes, const FabricSpec& spec) {
  return (leaves_for(nodes, spec) - 1) / spec.leaves_per_group + 1;
}

LinkId leaf_to_spine(const FabricSpec& spec, const FabricSite& site, int leaf, int spine) {
  return after_nic_links(site) + 2 * static_cast<LinkId>(leaf * spec.uplinks_per_leaf + spine);
}

LinkId dragonfly_plus_global_link(const FabricSpec& spec, const FabricSite& site, int from, int to,
                                  int number) {
  const LinkId pair = place_of_pair(std::min(from, to), std::max(from, to));
  return leaf_to_spine(spec, site, leaves_for(site.nodes, spec), 0) +
         2 * (pair * static_cast<LinkId>(spec.global_links) + static_cast<LinkId>(number)) +
         (from < to ? 0 : 1);
}

/// With at least one link per spine, link i joins spines of the same number; fewer links are dealt out over
/// the spines.
int spine_at(const FabricSpec& spec, int group, int other, int number) {
  const int spines = spec.uplinks_per_leaf;
  return spec.global_links >= spines ? number % spines
                                     : gateway(group, other, number, spec.global_links, spec.groups, spines);
}

std::vector<ClusterFault> check_dragonfly_plus(const ClusterSpec& spec) {
  std::vector<ClusterFault> faults;
  const FabricSpec& fabric = spec.fabric;
  require_parameter(faults, "dragonfly_plus", "groups", fabric.groups, "groups = 20 is the number of cells");
  require_parameter(faults, "dragonfly_plus", "leaves_per_group", fabric.leaves_per_group,
                    "leaves_per_group = 18 is the leaf switches of a cell");
  require_parameter(faults, "dragonfly_plus", "nodes_per_leaf", fabric.nodes_per_leaf,
                    "nodes_per_leaf = 10 puts all NICs of 10 nodes at a leaf");
  require_parameter(
      faults, "dragonfly_plus", "uplinks_per_leaf", fabric.uplinks_per_leaf,
      "uplinks_per_leaf = 18 makes 18 spine switches per cell, one link from every leaf to each");
  if (fabric.groups > 1)
    require_parameter(faults, "dragonfly_plus", "global_links", fabric.global_links,
                      "global_links = 18 joins every two cells by 18 links");
  if (!faults.empty() || spec.nodes < 1) return faults;
  require_room(faults, "dragonfly_plus",
               std::int64_t{fabric.groups} * fabric.leaves_per_group * fabric.nodes_per_leaf, spec.nodes,
               "raise groups, leaves_per_group or nodes_per_leaf");
  const double groups = dragonfly_plus_groups_for(spec.nodes, fabric),
               leaves = leaves_for(spec.nodes, fabric);
  require_few_links(faults, "dragonfly_plus",
                    leaves * fabric.uplinks_per_leaf + groups * groups / 2 * fabric.global_links,
                    "lower uplinks_per_leaf or global_links");
  return faults;
}

void build_dragonfly_plus(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const int leaves = leaves_for(site.nodes, spec), groups = dragonfly_plus_groups_for(site.nodes, spec),
            spines = spec.uplinks_per_leaf;
  for (int leaf = 0; leaf < leaves; ++leaf) parts.vertices.push_back({VertexKind::leaf, -1, leaf});
  for (int spine = 0; spine < groups * spines; ++spine)
    parts.vertices.push_back({VertexKind::spine, -1, spine});
  add_nic_links(spec, site, spec.nodes_per_leaf, parts.links);
  const VertexId first_spine = site.first_switch + static_cast<VertexId>(leaves);
  const auto vertex = [&](int group, int spine) {
    return first_spine + static_cast<VertexId>(group * spines + spine);
  };
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < spines; ++spine)
      add_both_ways(parts.links, site.first_switch + static_cast<VertexId>(leaf),
                    vertex(leaf / spec.leaves_per_group, spine), uplink_of(spec), spec.parallel_links);
  }
  for (int b = 1; b < groups; ++b) {
    for (int a = 0; a < b; ++a) {
      for (int i = 0; i < spec.global_links; ++i)
        add_both_ways(parts.links, vertex(a, spine_at(spec, a, b, i)), vertex(b, spine_at(spec, b, a, i)),
                      uplink_of(spec));
    }
  }
}

int route_dragonfly_plus(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                         std::vector<LinkId>& links) {
  const int from_leaf = from.node / spec.nodes_per_leaf, to_leaf = to.node / spec.nodes_per_leaf;
  const int from_group = from_leaf / spec.leaves_per_group, to_group = to_leaf / spec.leaves_per_group;
  const std::uint64_t path = path_number(spec, site, from, to);
  const std::size_t before = links.size();
  links.push_back(link_up(site, from));
  if (from_group != to_group) {
    const int number = static_cast<int>(path % static_cast<std::uint64_t>(spec.global_links));
    links.push_back(leaf_to_spine(spec, site, from_leaf, spine_at(spec, from_group, to_group, number)));
    links.push_back(dragonfly_plus_global_link(spec, site, from_group, to_group, number));
    links.push_back(leaf_to_spine(spec, site, to_leaf, spine_at(spec, to_group, from_group, number)) + 1);
  } else if (from_leaf != to_leaf) {
    const int spine = static_cast<int>(path % static_cast<std::uint64_t>(spec.uplinks_per_leaf));
    links.push_back(leaf_to_spine(spec, site, from_leaf, spine));
    links.push_back(leaf_to_spine(spec, site, to_leaf, spine) + 1);
  }
  links.push_back(link_down(site, to));
  return static_cast<int>(links.size() - before) - 1;
}

}  // namespace

Fabric dragonfly_plus_fabric() {
  return {"dragonfly_plus",
          "cells of leaves and spines, links between all cells: groups, leaves_per_group, nodes_per_leaf, "
          "uplinks_per_leaf, global_links",
          check_dragonfly_plus,
          build_dragonfly_plus,
          route_dragonfly_plus,
          {"uplink", "groups", "leaves_per_group", "nodes_per_leaf", "uplinks_per_leaf", "global_links",
           "parallel_links"}};
}

}  // namespace foretrain
