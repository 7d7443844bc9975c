// Two levels: leaves with nodes below and spines above, one uplink from every leaf to every spine. The receiving NIC alone decides the
// spine, in turn over all NICs, as InfiniBand's static fat-tree routing does: a whole leaf that sends to another uses its uplinks evenly,
// and still two flows may meet on an uplink while another is idle.
#include <cstdint>

#include "sim/cluster/fabrics/nic_links.hpp"

namespace foretrain {

namespace {

const LinkType& uplink_of(const FabricSpec& spec) { return spec.uplink.bandwidth.per_second > 0 ? spec.uplink : spec.link; }

int leaves_for(int nodes, const FabricSpec& spec) { return (nodes - 1) / spec.nodes_per_leaf + 1; }

std::vector<ClusterFault> check_fat_tree(const ClusterSpec& spec) {
  std::vector<ClusterFault> faults;
  const FabricSpec& fabric = spec.fabric;
  if (fabric.nodes_per_leaf < 1)
    faults.push_back({"a fat_tree needs nodes_per_leaf", "nodes_per_leaf = 18 puts 18 nodes under every leaf switch"});
  if (fabric.uplinks_per_leaf < 1)
    faults.push_back(
        {"a fat_tree needs uplinks_per_leaf", "uplinks_per_leaf = 18 makes 18 spine switches, one link from every leaf to each"});
  if (!faults.empty() || spec.nodes < 1) return faults;
  if (std::int64_t{2} * leaves_for(spec.nodes, fabric) * fabric.uplinks_per_leaf > kMostFabricLinks) {
    faults.push_back({"the fat_tree has too many uplinks", "raise nodes_per_leaf or lower uplinks_per_leaf"});
  }
  return faults;
}

void build_fat_tree(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const int leaves = leaves_for(site.nodes, spec);
  for (int leaf = 0; leaf < leaves; ++leaf) parts.vertices.push_back({VertexKind::leaf, -1, leaf});
  for (int spine = 0; spine < spec.uplinks_per_leaf; ++spine) parts.vertices.push_back({VertexKind::spine, -1, spine});
  add_nic_links(spec, site, spec.nodes_per_leaf, parts.links);
  const VertexId first_spine = site.first_switch + static_cast<VertexId>(leaves);
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < spec.uplinks_per_leaf; ++spine) {
      add_both_ways(parts.links, site.first_switch + static_cast<VertexId>(leaf), first_spine + static_cast<VertexId>(spine),
                    uplink_of(spec));
    }
  }
}

LinkId uplink(const FabricSpec& spec, const FabricSite& site, int leaf, int spine) {
  return after_nic_links(site) + 2 * static_cast<LinkId>(leaf * spec.uplinks_per_leaf + spine);
}

int spine_to(const FabricSpec& spec, const FabricSite& site, FabricPort to) {
  return static_cast<int>((std::int64_t{to.node} * site.nics + to.nic) % spec.uplinks_per_leaf);
}

int route_fat_tree(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to, std::vector<LinkId>& links) {
  const int from_leaf = from.node / spec.nodes_per_leaf, to_leaf = to.node / spec.nodes_per_leaf;
  links.push_back(link_up(site, from));
  if (from_leaf != to_leaf) {
    const int spine = spine_to(spec, site, to);
    links.push_back(uplink(spec, site, from_leaf, spine));
    links.push_back(uplink(spec, site, to_leaf, spine) + 1);
  }
  links.push_back(link_down(site, to));
  return from_leaf == to_leaf ? 1 : 3;
}

}  // namespace

Fabric fat_tree_fabric() {
  return {"fat_tree", "leaf and spine switches, possibly oversubscribed: nodes_per_leaf, uplinks_per_leaf", check_fat_tree, build_fat_tree,
          route_fat_tree};
}

}  // namespace foretrain
