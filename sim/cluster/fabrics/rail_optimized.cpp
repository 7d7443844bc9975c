// A leaf switch per rail: the NICs of one number of a group of nodes share a leaf, so that a ring within a
// rail stays below it; spines above join all leaves. Ranks on different rails meet at a spine, unless they
// change the rail over NVLink first.
#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

int rail_groups_for(int nodes, const FabricSpec& spec) { return (nodes - 1) / spec.nodes_per_leaf + 1; }

int leaf_of(const FabricSpec& spec, const FabricSite& site, FabricPort port) {
  return port.node / spec.nodes_per_leaf * site.nics + port.nic;
}

LinkId uplink(const FabricSpec& spec, const FabricSite& site, int leaf, int spine) {
  return after_nic_links(site) + 2 * static_cast<LinkId>(leaf * spec.uplinks_per_leaf + spine);
}

/// All messages of a rail go to NICs of one number, so that the number of the receiving node deals them out
/// in turn, not that of the NIC: with eight rails and 20 spines the latter would use only every fourth spine.
std::uint64_t way_number(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to) {
  return spec.ecmp == PathChoice::destination ? static_cast<std::uint64_t>(to.node)
                                              : path_number(spec, site, from, to);
}

std::vector<ClusterFault> check_rails(const ClusterSpec& spec) {
  std::vector<ClusterFault> faults;
  const FabricSpec& fabric = spec.fabric;
  require_parameter(faults, "rail_optimized", "nodes_per_leaf", fabric.nodes_per_leaf,
                    "nodes_per_leaf = 32 joins NIC 0 of 32 nodes to one leaf, NIC 1 to the next");
  require_parameter(faults, "rail_optimized", "uplinks_per_leaf", fabric.uplinks_per_leaf,
                    "uplinks_per_leaf = 32 makes 32 spine switches, one link from every leaf to each");
  if (!faults.empty() || spec.nodes < 1) return faults;
  require_few_links(
      faults, "rail_optimized",
      double{1} * rail_groups_for(spec.nodes, fabric) * spec.node.nics * fabric.uplinks_per_leaf,
      "raise nodes_per_leaf or lower uplinks_per_leaf");
  return faults;
}

void build_rails(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const int leaves = rail_groups_for(site.nodes, spec) * site.nics;
  for (int leaf = 0; leaf < leaves; ++leaf) parts.vertices.push_back({VertexKind::leaf, -1, leaf});
  for (int spine = 0; spine < spec.uplinks_per_leaf; ++spine)
    parts.vertices.push_back({VertexKind::spine, -1, spine});
  const VertexId first_spine = site.first_switch + static_cast<VertexId>(leaves);
  for (int node = 0; node < site.nodes; ++node) {
    const VertexId first = site.first_nic + static_cast<VertexId>(node) * site.vertices_per_node;
    for (int nic = 0; nic < site.nics; ++nic)
      add_both_ways(parts.links, first + static_cast<VertexId>(nic),
                    site.first_switch + static_cast<VertexId>(leaf_of(spec, site, {node, nic})), spec.link);
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < spec.uplinks_per_leaf; ++spine)
      add_both_ways(parts.links, site.first_switch + static_cast<VertexId>(leaf),
                    first_spine + static_cast<VertexId>(spine), uplink_of(spec), spec.parallel_links);
  }
}

int route_rails(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                std::vector<LinkId>& links) {
  const int from_leaf = leaf_of(spec, site, from), to_leaf = leaf_of(spec, site, to);
  links.push_back(link_up(site, from));
  if (from_leaf != to_leaf) {
    const int spine = static_cast<int>(way_number(spec, site, from, to) %
                                       static_cast<std::uint64_t>(spec.uplinks_per_leaf));
    links.push_back(uplink(spec, site, from_leaf, spine));
    links.push_back(uplink(spec, site, to_leaf, spine) + 1);
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
          {"uplink", "nodes_per_leaf", "uplinks_per_leaf", "parallel_links"}};
}

}  // namespace foretrain
