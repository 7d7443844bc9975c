// Rail-optimized fabric: a leaf switch per rail.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Options of a rail-optimized fabric: NICs of the same number in all nodes of a unit share a leaf switch,
/// the rail.
struct RailOptimized {
  int nodes_per_leaf = 0;
  /// Spines above all leaves, one link to each.
  int uplinks_per_leaf = 0;
  /// Links between a leaf and a spine; simulated as one link of their summed bandwidth.
  int parallel_links = 1;
};

Fabric rail_optimized_fabric();

}  // namespace foretrain
