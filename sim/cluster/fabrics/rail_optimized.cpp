// The NICs of one number in a group of nodes share a leaf, so a ring within a rail stays below that leaf.
// Spines join all leaves. Ranks on different rails meet at a spine, unless they change the rail over NVLink
// first.
#include "sim/cluster/fabrics/rail_optimized.hpp"

#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

/// Returns how many groups of nodes, each with a leaf per rail, the nodes in use need.
int rail_groups_for(int nodes, const RailOptimized& own) { return (nodes - 1) / own.nodes_per_leaf + 1; }

/// Returns the leaf of a NIC: leaves are numbered by group of nodes, then by rail.
int leaf_of(const RailOptimized& own, const FabricSite& site, FabricPort port) {
  return port.node / own.nodes_per_leaf * site.nics + port.nic;
}

/// Returns the link from a leaf up to a spine; the next number is its downward direction.
LinkId uplink(const RailOptimized& own, const FabricSite& site, int leaf, int spine) {
  return after_nic_links(site) + 2 * static_cast<LinkId>(leaf * own.uplinks_per_leaf + spine);
}

/// Returns the number that chooses the spine. All messages of a rail go to NICs of one number, so the
/// receiving node's number counts, not that of the NIC. With eight rails and 20 spines the latter would use
/// only every fourth spine.
std::uint64_t route_number(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to) {
  return spec.ecmp == PathChoice::destination ? static_cast<std::uint64_t>(to.node)
                                              : path_number(spec, site, from, to);
}

std::vector<ClusterFault> check_rails(const ClusterSpec& spec) {
  const RailOptimized& own = spec.fabric.get<RailOptimized>();
  std::vector<ClusterFault> faults;
  require_parameter(faults, "rail_optimized", "nodes_per_leaf", own.nodes_per_leaf,
                    "nodes_per_leaf = 32 joins NIC 0 of 32 nodes to one leaf, NIC 1 to the next");
  require_parameter(faults, "rail_optimized", "uplinks_per_leaf", own.uplinks_per_leaf,
                    "uplinks_per_leaf = 32 makes 32 spine switches, one link from every leaf to each");
  if (!faults.empty() || spec.nodes < 1) return faults;
  require_few_links(faults, "rail_optimized",
                    double{1} * rail_groups_for(spec.nodes, own) * spec.node.nics * own.uplinks_per_leaf,
                    "raise nodes_per_leaf or lower uplinks_per_leaf");
  return faults;
}

void build_rails(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const RailOptimized& own = spec.get<RailOptimized>();
  const int leaves = rail_groups_for(site.nodes, own) * site.nics;
  for (int leaf = 0; leaf < leaves; ++leaf) parts.vertices.push_back({VertexKind::leaf, -1, leaf});
  for (int spine = 0; spine < own.uplinks_per_leaf; ++spine)
    parts.vertices.push_back({VertexKind::spine, -1, spine});
  const VertexId first_spine = site.first_switch + static_cast<VertexId>(leaves);
  for (int node = 0; node < site.nodes; ++node) {
    const VertexId first = site.first_nic + static_cast<VertexId>(node) * site.vertices_per_node;
    for (int nic = 0; nic < site.nics; ++nic)
      add_both_directions(parts.links, first + static_cast<VertexId>(nic),
                          site.first_switch + static_cast<VertexId>(leaf_of(own, site, {node, nic})),
                          spec.link);
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < own.uplinks_per_leaf; ++spine)
      add_both_directions(parts.links, site.first_switch + static_cast<VertexId>(leaf),
                          first_spine + static_cast<VertexId>(spine), uplink_of(spec), own.parallel_links);
  }
}

int route_rails(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                std::vector<LinkId>& links) {
  const RailOptimized& own = spec.get<RailOptimized>();
  const int from_leaf = leaf_of(own, site, from), to_leaf = leaf_of(own, site, to);
  links.push_back(link_up(site, from));
  if (from_leaf != to_leaf) {
    const int spine = static_cast<int>(route_number(spec, site, from, to) %
                                       static_cast<std::uint64_t>(own.uplinks_per_leaf));
    links.push_back(uplink(own, site, from_leaf, spine));
    links.push_back(uplink(own, site, to_leaf, spine) + 1);
  }
  links.push_back(link_down(site, to));
  return from_leaf == to_leaf ? 1 : 3;
}

}  // namespace

Fabric rail_optimized_fabric() {
  return {"rail_optimized",
          "a leaf switch per rail and group of nodes, spines above: nodes_per_leaf, uplinks_per_leaf",
          check_rails,
          build_rails,
          route_rails,
          true,
          {{"nodes_per_leaf", "required", "nodes at the leaf of a rail: adapters of one number",
            fabric_option<&RailOptimized::nodes_per_leaf>()},
           {"uplinks_per_leaf", "required", "spines above all leaves, one link to each",
            fabric_option<&RailOptimized::uplinks_per_leaf>()},
           {"parallel_links", "1", "between a leaf and a spine; one fat link",
            fabric_option<&RailOptimized::parallel_links>(), 1, kThickestLink}}};
}

}  // namespace foretrain
