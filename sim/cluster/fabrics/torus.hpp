// Torus: a grid of routers whose edges are joined to rings.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a torus: nodes in a grid of several dimensions whose edges are joined. Messages go dimension by
/// dimension.
struct Torus {
  /// Number of routers in each dimension.
  std::vector<int> dimensions{};
  int nodes_per_router = 1;
};

Fabric torus_fabric();

}  // namespace foretrain
