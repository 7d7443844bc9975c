// Dragonfly+: groups that are two-level fat trees.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a dragonfly+: groups of leaf and spine switches in two levels, whose spines are joined between
/// groups (Shpiner et al., HiPINEB 2017).
struct DragonflyPlus {
  int groups = 0;
  int leaves_per_group = 0;
  int nodes_per_leaf = 0;
  /// Number of spines in a group; each leaf has a link to every one of them.
  int uplinks_per_leaf = 0;
  /// Links between two groups.
  int global_links = 0;
  /// Links between a leaf and a spine; simulated as one link of their summed bandwidth.
  int parallel_links = 1;
};

Fabric dragonfly_plus_fabric();

}  // namespace foretrain
