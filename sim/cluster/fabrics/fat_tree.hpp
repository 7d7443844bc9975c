// Fat tree: two or three levels of switches.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a fat tree: leaf switches below spines (two levels), or below spines and cores (three levels).
struct FatTree {
  int nodes_per_leaf = 0;
  /// Spines above a leaf, one link to each.
  int uplinks_per_leaf = 0;
  /// 2 or 3.
  int levels = 2;
  /// Leaves that share spines, with three levels only; such a group is a pod.
  int leaves_per_group = 0;
  /// Cores above a spine, with three levels only; 0 = as many as there are leaves below it.
  int uplinks_per_spine = 0;
  /// Links between a leaf and a spine, and between a spine and a core; simulated as one link of their summed
  /// bandwidth.
  int parallel_links = 1;
};

Fabric fat_tree_fabric();

}  // namespace foretrain
