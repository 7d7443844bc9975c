// One small cluster over each fabric, in each of its forms, for laws that hold for all of them.
#pragma once

#include "sim/cluster/fabrics/dragonfly.hpp"
#include "sim/cluster/fabrics/dragonfly_plus.hpp"
#include "sim/cluster/fabrics/explicit.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/cluster/fabrics/rail_optimized.hpp"
#include "sim/cluster/fabrics/torus.hpp"
#include "tests/support/test_clusters.hpp"

namespace foretrain::test {

/// A cluster of `nodes` nodes with two NICs each and the parameters every switched fabric of this page takes
/// from its own.
inline ClusterSpec over_fabric(std::string kind, int nodes) {
  ClusterSpec spec = nvlink_cluster(nodes, 2);
  spec.name = kind;
  spec.fabric.kind = std::move(kind);
  return spec;
}

inline ClusterSpec tree_example(int levels) {
  ClusterSpec spec = over_fabric("fat_tree", 11);
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.nodes_per_leaf = 2, tree.uplinks_per_leaf = 3, tree.levels = levels;
  if (levels == 3) tree.leaves_per_group = 2, tree.uplinks_per_spine = 2;
  return spec;
}

inline ClusterSpec rail_example() {
  ClusterSpec spec = over_fabric("rail_optimized", 7);
  RailOptimized& rails = spec.fabric.edit<RailOptimized>();
  rails.nodes_per_leaf = 3, rails.uplinks_per_leaf = 2;
  return spec;
}

/// Three groups of four routers, one node (or, with spread NICs, two nodes per two routers) at each.
inline ClusterSpec dragonfly_example(bool spread_nics) {
  ClusterSpec spec = over_fabric("dragonfly", 12);
  Dragonfly& groups = spec.fabric.edit<Dragonfly>();
  groups.groups = 3, groups.routers_per_group = 4, groups.nodes_per_router = 1;
  groups.global_links = 3, groups.spread_nics = spread_nics;
  return spec;
}

/// Three cells of two leaves and two spines, two nodes per leaf.
inline ClusterSpec cells_example(int global_links) {
  ClusterSpec spec = over_fabric("dragonfly_plus", 11);
  DragonflyPlus& cells = spec.fabric.edit<DragonflyPlus>();
  cells.groups = 3, cells.leaves_per_group = 2, cells.nodes_per_leaf = 2, cells.uplinks_per_leaf = 2;
  cells.global_links = global_links;
  return spec;
}

inline ClusterSpec torus_example(std::vector<int> dimensions, int nodes) {
  ClusterSpec spec = over_fabric("torus", nodes);
  spec.fabric.edit<Torus>().dimensions = std::move(dimensions);
  return spec;
}

inline FabricLink join(std::string a, std::string b) { return {std::move(a), std::move(b), hdr100(), 1, {}}; }

/// Two leaves of two nodes with two ways between them, and a third leaf behind the second.
inline ClusterSpec graph_example() {
  ClusterSpec spec = over_fabric("explicit", 5);
  spec.fabric.edit<ExplicitFabric>().graph = {join("left", "node0-1"),     join("right", "node2.nic0"),
                                              join("right", "node2.nic1"), join("right", "node3"),
                                              join("left", "top"),         join("left", "bottom"),
                                              join("top", "right"),        join("bottom", "right"),
                                              join("right", "far"),        join("far", "node4")};
  return spec;
}

inline std::vector<ClusterSpec> fabric_examples() {
  ClusterSpec alone = over_fabric("none", 1), hashed = tree_example(3);
  hashed.fabric.ecmp = PathChoice::flow;
  return {alone,
          over_fabric("star", 4),
          tree_example(2),
          tree_example(3),
          hashed,
          rail_example(),
          dragonfly_example(false),
          dragonfly_example(true),
          cells_example(1),
          cells_example(4),
          torus_example({3, 4}, 11),
          torus_example({2, 1, 5}, 10),
          graph_example()};
}

}  // namespace foretrain::test
