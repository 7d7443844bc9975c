// Leaves have nodes below them and spines above, with one uplink from every leaf to every spine of its group.
// With three levels there are cores above the spines; each core joins the spines of one number in all groups.
//
// The receiving NIC alone decides spine and core, in turn over all NICs, as InfiniBand's static fat-tree
// routing does. A whole leaf that sends to another one thus uses its uplinks evenly. Still, two flows of
// other patterns may meet on an uplink while another is idle.
#include "sim/cluster/fabrics/fat_tree.hpp"

#include <cstdint>

#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

/// Numbers of switches, and the first numbers of links, in the tree over the nodes in use.
struct FatTreeShape {
  FatTreeShape(const FatTree& own, const FabricSite& site)
      : leaves((site.nodes - 1) / own.nodes_per_leaf + 1),
        leaves_per_group(own.levels == 3 ? own.leaves_per_group : leaves),
        groups((leaves - 1) / leaves_per_group + 1),
        spines(own.uplinks_per_leaf),
        cores(groups == 1                 ? 0
              : own.uplinks_per_spine > 0 ? own.uplinks_per_spine
                                          : own.leaves_per_group),
        first_uplink(after_nic_links(site)),
        first_core_link(first_uplink + 2 * static_cast<LinkId>(leaves) * static_cast<LinkId>(spines)) {}

  /// Returns the upward link from a leaf to a spine; the next number is its downward direction.
  LinkId leaf_to_spine(int leaf, int spine) const {
    return first_uplink + 2 * static_cast<LinkId>(leaf * spines + spine);
  }
  /// Returns the upward link from a spine to one of its cores.
  LinkId spine_to_core(int group, int spine, int core) const {
    return first_core_link + 2 * static_cast<LinkId>((group * spines + spine) * cores + core);
  }

  int leaves, leaves_per_group, groups;
  /// Spines per group.
  int spines;
  /// Cores above each spine.
  int cores;
  LinkId first_uplink, first_core_link;
};

/// Returns the number of connections between switches, in floating point so that it cannot overflow.
double connections(const ClusterSpec& spec) {
  const FatTree& own = spec.fabric.get<FatTree>();
  const double leaves = (spec.nodes - 1) / own.nodes_per_leaf + 1;
  const double uplinks = leaves * own.uplinks_per_leaf;
  if (own.levels < 3) return uplinks;
  const double groups = (static_cast<int>(leaves) - 1) / own.leaves_per_group + 1;
  return uplinks + groups * own.uplinks_per_leaf *
                       (own.uplinks_per_spine > 0 ? own.uplinks_per_spine : own.leaves_per_group);
}

std::vector<ClusterFault> check_fat_tree(const ClusterSpec& spec) {
  const FatTree& own = spec.fabric.get<FatTree>();
  std::vector<ClusterFault> faults;
  require_parameter(faults, "fat_tree", "nodes_per_leaf", own.nodes_per_leaf,
                    "nodes_per_leaf = 18 puts 18 nodes under every leaf switch");
  require_parameter(faults, "fat_tree", "uplinks_per_leaf", own.uplinks_per_leaf,
                    "uplinks_per_leaf = 18 makes 18 spine switches, one link from every leaf to each");
  if (own.levels == 3)
    require_parameter(
        faults, "fat_tree of three levels", "leaves_per_group", own.leaves_per_group,
        "leaves_per_group = 32 joins 32 leaves and their spines to a group, below the core switches");
  if (own.levels == 2 && (own.leaves_per_group > 0 || own.uplinks_per_spine > 0))
    faults.push_back(
        {"a fat_tree of two levels has no groups and no links above its spines", "set levels = 3"});
  if (own.levels < 2 || own.levels > 3)
    faults.push_back({"a fat_tree has two or three levels", "set levels = 2 or levels = 3"});
  if (!faults.empty() || spec.nodes < 1) return faults;
  if (2 * connections(spec) > kMostFabricLinks)
    faults.push_back({"the fat_tree has too many uplinks", "raise nodes_per_leaf or lower uplinks_per_leaf"});
  return faults;
}

void build_fat_tree(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const FatTree& own = spec.get<FatTree>();
  const FatTreeShape tree(own, site);
  const auto add_switches = [&](VertexKind kind, int count) {
    const VertexId first = static_cast<VertexId>(parts.vertices.size());
    for (int i = 0; i < count; ++i) parts.vertices.push_back({kind, -1, i});
    return first;
  };
  const VertexId first_leaf = add_switches(VertexKind::leaf, tree.leaves);
  const VertexId first_spine = add_switches(VertexKind::spine, tree.groups * tree.spines);
  const VertexId first_core = add_switches(VertexKind::core, tree.spines * tree.cores);
  parts.links.reserve_fabric(tree.spine_to_core(tree.groups, 0, 0) - site.first_link);
  add_nic_links(spec, site, own.nodes_per_leaf, parts.links);
  for (int leaf = 0; leaf < tree.leaves; ++leaf) {
    const VertexId spine = first_spine + static_cast<VertexId>(leaf / tree.leaves_per_group * tree.spines);
    for (int i = 0; i < tree.spines; ++i)
      add_both_directions(parts.links, first_leaf + static_cast<VertexId>(leaf),
                          spine + static_cast<VertexId>(i), uplink_of(spec), own.parallel_links);
  }
  for (int spine = 0; spine < tree.groups * tree.spines; ++spine) {
    const VertexId core = first_core + static_cast<VertexId>(spine % tree.spines * tree.cores);
    for (int i = 0; i < tree.cores; ++i)
      add_both_directions(parts.links, first_spine + static_cast<VertexId>(spine),
                          core + static_cast<VertexId>(i), uplink_of(spec), own.parallel_links);
  }
}

int route_fat_tree(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                   std::vector<LinkId>& links) {
  const FatTree& own = spec.get<FatTree>();
  const FatTreeShape tree(own, site);
  const int from_leaf = from.node / own.nodes_per_leaf, to_leaf = to.node / own.nodes_per_leaf;
  const int from_group = from_leaf / tree.leaves_per_group, to_group = to_leaf / tree.leaves_per_group;
  // The number modulo the spines chooses the spine; the quotient chooses the core.
  const std::uint64_t number = path_number(spec, site, from, to);
  const int spine = static_cast<int>(number % static_cast<std::uint64_t>(tree.spines));
  links.push_back(link_up(site, from));
  if (from_leaf != to_leaf) links.push_back(tree.leaf_to_spine(from_leaf, spine));
  if (from_group != to_group) {
    const std::uint64_t next = number / static_cast<std::uint64_t>(tree.spines);
    const int core = static_cast<int>(next % static_cast<std::uint64_t>(tree.cores));
    links.push_back(tree.spine_to_core(from_group, spine, core));
    links.push_back(tree.spine_to_core(to_group, spine, core) + 1);
  }
  if (from_leaf != to_leaf) links.push_back(tree.leaf_to_spine(to_leaf, spine) + 1);
  links.push_back(link_down(site, to));
  return from_leaf == to_leaf ? 1 : from_group == to_group ? 3 : 5;
}

}  // namespace

Fabric fat_tree_fabric() {
  return {
      "fat_tree",
      "leaf and spine switches, possibly oversubscribed: nodes_per_leaf, uplinks_per_leaf; with levels = "
      "3 cores above them",
      check_fat_tree,
      build_fat_tree,
      route_fat_tree,
      true,
      {{"nodes_per_leaf", "required", "nodes at a leaf switch", fabric_option<&FatTree::nodes_per_leaf>()},
       {"uplinks_per_leaf", "required", "spines above a leaf, one link to each",
        fabric_option<&FatTree::uplinks_per_leaf>()},
       {"levels", "2", "levels of switches: 2 or 3", fabric_option<&FatTree::levels>(), 2, 3},
       {"leaves_per_group", "required with levels = 3", "leaves that share spines, a pod",
        fabric_option<&FatTree::leaves_per_group>()},
       {"uplinks_per_spine", "leaves_per_group", "of three levels: cores above a spine",
        fabric_option<&FatTree::uplinks_per_spine>()},
       {"parallel_links", "1", "between a leaf and a spine, a spine and a core; one fat link",
        fabric_option<&FatTree::parallel_links>(), 1, kThickestLink}}};
}

}  // namespace foretrain
