// A fabric as a list of links.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

struct ExplicitFabric {
  std::vector<FabricLink> graph{};
};

Fabric explicit_fabric();

}  // namespace foretrain
