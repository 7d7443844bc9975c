// Checks of parameters that several fabrics share.
#pragma once

#include "sim/cluster/fabrics/catalog.hpp"

namespace foretrain {

/// Adds a fault for a count that is missing (less than one): "a fat_tree needs nodes_per_leaf".
void require_parameter(std::vector<ClusterFault>& faults, std::string_view fabric, std::string_view key,
                       int value, std::string hint);

/// Adds a fault if the fabric has fewer places than nodes: "a torus of this size holds 16 nodes, not 24".
void require_capacity(std::vector<ClusterFault>& faults, std::string_view fabric, std::int64_t places,
                      int nodes, std::string hint);

/// Adds a fault if the links between switches are more than kMostFabricLinks, counted in both directions.
void require_few_links(std::vector<ClusterFault>& faults, std::string_view fabric, double connections,
                       std::string hint);

}  // namespace foretrain
