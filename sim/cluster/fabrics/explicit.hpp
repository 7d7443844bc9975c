// A fabric that is described as a list of links.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of an explicit fabric: its switches and cables are named one by one in the cluster file.
struct ExplicitFabric {
  std::vector<FabricLink> graph{};
};

Fabric explicit_fabric();

}  // namespace foretrain
