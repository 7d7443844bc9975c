// Two or three levels of switches.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a fat tree: leaf switches below spines (two levels) or below spines and cores (three levels),
/// and the links between levels.
struct FatTree {
  int nodes_per_leaf = 0;
  int uplinks_per_leaf = 0;   ///< spines above a leaf, one link to each
  int levels = 2;             ///< 2 or 3
  int leaves_per_group = 0;   ///< of three levels; a group is a pod
  int uplinks_per_spine = 0;  ///< of three levels: cores above a spine; 0 = as many as leaves below it
  int parallel_links = 1;     ///< between a leaf and a spine, a spine and a core; one fat link
};

Fabric fat_tree_fabric();

}  // namespace foretrain
