// Dragonfly: groups of routers, all joined.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a dragonfly: groups of routers, with links inside a group and between groups (Kim et al., ISCA
/// 2008).
struct Dragonfly {
  int groups = 0;
  int routers_per_group = 0;
  int nodes_per_router = 0;
  /// Links between two routers of a group; simulated as one link of their summed bandwidth.
  int parallel_links = 1;
  /// Links between two groups.
  int global_links = 0;
  /// The NICs of a node are attached to different routers, one number of NIC to each; otherwise all are at
  /// one router.
  bool spread_nics = false;
};

Fabric dragonfly_fabric();

}  // namespace foretrain
