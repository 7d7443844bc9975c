// A grid of routers closed to rings.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a torus: nodes in a grid of several dimensions whose edges are joined; messages go dimension by
/// dimension.
struct Torus {
  std::vector<int> dimensions{};
  int nodes_per_router = 1;
};

Fabric torus_fabric();

}  // namespace foretrain
