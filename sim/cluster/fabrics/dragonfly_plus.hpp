// Groups that are two-level fat trees.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a dragonfly+: groups of leaf and spine switches in two levels, whose spines are joined between
/// groups (Shpiner et al., HiPINEB 2017).
struct DragonflyPlus {
  int groups = 0;
  int leaves_per_group = 0;
  int nodes_per_leaf = 0;
  int uplinks_per_leaf = 0;  ///< spines of a group, one link from every leaf to each
  int global_links = 0;      ///< links between two groups
  int parallel_links = 1;    ///< between a leaf and a spine; one fat link
};

Fabric dragonfly_plus_fabric();

}  // namespace foretrain
