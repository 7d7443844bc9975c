// Every two groups are joined by global_links links between their spines (Shpiner et al. 2017, "Dragonfly+").
// Every leaf has a link to every spine of its group. A minimal route between groups therefore passes leaf,
// spine, spine, leaf, whichever link it takes.
#include "sim/cluster/fabrics/dragonfly_plus.hpp"

#include "sim/cluster/fabrics/group_links.hpp"
#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

int leaves_for(int nodes, const DragonflyPlus& own) { return (nodes - 1) / own.nodes_per_leaf + 1; }
int dragonfly_plus_groups_for(int nodes, const DragonflyPlus& own) {
  return (leaves_for(nodes, own) - 1) / own.leaves_per_group + 1;
}

/// Returns the link from a leaf up to a spine of its group; the next number is the downward direction.
LinkId leaf_to_spine(const DragonflyPlus& own, const FabricSite& site, int leaf, int spine) {
  return after_nic_links(site) + 2 * static_cast<LinkId>(leaf * own.uplinks_per_leaf + spine);
}

/// Returns link `number` from one group to another. These links follow those of the leaves.
LinkId dragonfly_plus_global_link(const DragonflyPlus& own, const FabricSite& site, int from, int to,
                                  int number) {
  const LinkId pair = place_of_pair(std::min(from, to), std::max(from, to));
  return leaf_to_spine(own, site, leaves_for(site.nodes, own), 0) +
         2 * (pair * static_cast<LinkId>(own.global_links) + static_cast<LinkId>(number)) +
         (from < to ? 0 : 1);
}

/// Returns the spine at which link `number` to group `other` begins. With at least one link per spine, link i
/// joins spines of the same number. Fewer links are dealt out over the spines.
int spine_at(const DragonflyPlus& own, int group, int other, int number) {
  const int spines = own.uplinks_per_leaf;
  return own.global_links >= spines ? number % spines
                                    : gateway(group, other, number, own.global_links, own.groups, spines);
}

std::vector<ClusterFault> check_dragonfly_plus(const ClusterSpec& spec) {
  const DragonflyPlus& own = spec.fabric.get<DragonflyPlus>();
  std::vector<ClusterFault> faults;
  require_parameter(faults, "dragonfly_plus", "groups", own.groups, "groups = 20 is the number of cells");
  require_parameter(faults, "dragonfly_plus", "leaves_per_group", own.leaves_per_group,
                    "leaves_per_group = 18 is the leaf switches of a cell");
  require_parameter(faults, "dragonfly_plus", "nodes_per_leaf", own.nodes_per_leaf,
                    "nodes_per_leaf = 10 puts all NICs of 10 nodes at a leaf");
  require_parameter(
      faults, "dragonfly_plus", "uplinks_per_leaf", own.uplinks_per_leaf,
      "uplinks_per_leaf = 18 makes 18 spine switches per cell, one link from every leaf to each");
  if (own.groups > 1)
    require_parameter(faults, "dragonfly_plus", "global_links", own.global_links,
                      "global_links = 18 joins every two cells by 18 links");
  if (!faults.empty() || spec.nodes < 1) return faults;
  require_capacity(faults, "dragonfly_plus",
                   std::int64_t{own.groups} * own.leaves_per_group * own.nodes_per_leaf, spec.nodes,
                   "raise groups, leaves_per_group or nodes_per_leaf");
  const double groups = dragonfly_plus_groups_for(spec.nodes, own), leaves = leaves_for(spec.nodes, own);
  require_few_links(faults, "dragonfly_plus",
                    leaves * own.uplinks_per_leaf + groups * groups / 2 * own.global_links,
                    "lower uplinks_per_leaf or global_links");
  return faults;
}

void build_dragonfly_plus(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const DragonflyPlus& own = spec.get<DragonflyPlus>();
  const int leaves = leaves_for(site.nodes, own), groups = dragonfly_plus_groups_for(site.nodes, own),
            spines = own.uplinks_per_leaf;
  for (int leaf = 0; leaf < leaves; ++leaf) parts.vertices.push_back({VertexKind::leaf, -1, leaf});
  for (int spine = 0; spine < groups * spines; ++spine)
    parts.vertices.push_back({VertexKind::spine, -1, spine});
  add_nic_links(spec, site, own.nodes_per_leaf, parts.links);
  const VertexId first_spine = site.first_switch + static_cast<VertexId>(leaves);
  const auto vertex = [&](int group, int spine) {
    return first_spine + static_cast<VertexId>(group * spines + spine);
  };
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < spines; ++spine)
      add_both_directions(parts.links, site.first_switch + static_cast<VertexId>(leaf),
                          vertex(leaf / own.leaves_per_group, spine), uplink_of(spec), own.parallel_links);
  }
  for (int b = 1; b < groups; ++b) {
    for (int a = 0; a < b; ++a) {
      for (int i = 0; i < own.global_links; ++i)
        add_both_directions(parts.links, vertex(a, spine_at(own, a, b, i)), vertex(b, spine_at(own, b, a, i)),
                            uplink_of(spec));
    }
  }
}

int route_dragonfly_plus(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                         std::vector<LinkId>& links) {
  const DragonflyPlus& own = spec.get<DragonflyPlus>();
  const int from_leaf = from.node / own.nodes_per_leaf, to_leaf = to.node / own.nodes_per_leaf;
  const int from_group = from_leaf / own.leaves_per_group, to_group = to_leaf / own.leaves_per_group;
  const std::uint64_t path = path_number(spec, site, from, to);
  const std::size_t before = links.size();
  links.push_back(link_up(site, from));
  if (from_group != to_group) {
    const int number = static_cast<int>(path % static_cast<std::uint64_t>(own.global_links));
    links.push_back(leaf_to_spine(own, site, from_leaf, spine_at(own, from_group, to_group, number)));
    links.push_back(dragonfly_plus_global_link(own, site, from_group, to_group, number));
    links.push_back(leaf_to_spine(own, site, to_leaf, spine_at(own, to_group, from_group, number)) + 1);
  } else if (from_leaf != to_leaf) {
    const int spine = static_cast<int>(path % static_cast<std::uint64_t>(own.uplinks_per_leaf));
    links.push_back(leaf_to_spine(own, site, from_leaf, spine));
    links.push_back(leaf_to_spine(own, site, to_leaf, spine) + 1);
  }
  links.push_back(link_down(site, to));
  return static_cast<int>(links.size() - before) - 1;
}

}  // namespace

Fabric dragonfly_plus_fabric() {
  return {
      "dragonfly_plus",
      "cells of leaves and spines, links between all cells: groups, leaves_per_group, nodes_per_leaf, "
      "uplinks_per_leaf, global_links",
      check_dragonfly_plus,
      build_dragonfly_plus,
      route_dragonfly_plus,
      true,
      {{"groups", "required", "groups, each a two-level fat tree", fabric_option<&DragonflyPlus::groups>()},
       {"leaves_per_group", "required", "leaf switches of a group",
        fabric_option<&DragonflyPlus::leaves_per_group>()},
       {"nodes_per_leaf", "required", "nodes at a leaf", fabric_option<&DragonflyPlus::nodes_per_leaf>()},
       {"uplinks_per_leaf", "required", "spines of a group, one link from every leaf to each",
        fabric_option<&DragonflyPlus::uplinks_per_leaf>()},
       {"global_links", "required", "links between two groups",
        fabric_option<&DragonflyPlus::global_links>()},
       {"parallel_links", "1", "between a leaf and a spine; one fat link",
        fabric_option<&DragonflyPlus::parallel_links>(), 1, kThickestLink}}};
}

}  // namespace foretrain
