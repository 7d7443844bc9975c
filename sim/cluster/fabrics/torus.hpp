// A grid of routers closed to rings.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

struct Torus {
  std::vector<int> dimensions{};
  int nodes_per_router = 1;
};

Fabric torus_fabric();

}  // namespace foretrain
