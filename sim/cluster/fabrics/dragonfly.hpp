// Groups of routers, all joined.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a dragonfly: groups of routers, with links inside a group and between groups (Kim et al., ISCA
/// 2008).
struct Dragonfly {
  int groups = 0;
  int routers_per_group = 0;
  int nodes_per_router = 0;
  int parallel_links = 1;    ///< between two routers of a group; one fat link
  int global_links = 0;      ///< links between two groups
  bool spread_nics = false;  ///< the NICs of a node are at as many routers, those of one number at one
};

Fabric dragonfly_fabric();

}  // namespace foretrain
