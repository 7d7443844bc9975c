// The kinds of network between nodes: a table of functions, one file each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// Where a fabric's parts are in the numbering of the cluster.
struct FabricSite {
  int nodes = 0;           ///< in use
  int nics = 0;            ///< per node
  VertexId first_nic = 0;  ///< nic0 of node 0
  std::uint32_t vertices_per_node = 0;
  VertexId first_switch = 0;       ///< the next vertex to be added
  LinkId first_link = 0;           ///< the next link to be added
  const FabricMap* map = nullptr;  ///< filled by build() of an explicit fabric
};

/// A NIC: where the fabric begins and ends.
struct FabricPort {
  int node = 0;
  int nic = 0;
};

/// Vertices and links that grow as a fabric is built.
struct FabricParts {
  std::vector<Vertex>& vertices;
  ClusterLinks& links;
  FabricMap& map;
};

/// One kind of fabric.
struct Fabric {
  std::string_view name;  ///< FabricSpec::kind
  std::string_view summary;
  /// Faults of its own parameters (whether they are there and make sense); the common ones are found by
  /// check().
  std::vector<ClusterFault> (*check)(const ClusterSpec& spec);
  /// Appends its switches and links. Requires that check() found nothing.
  void (*build)(const FabricSpec& spec, const FabricSite& site, FabricParts parts);
  /// Appends the links from one NIC to another, of different nodes, and returns the number of switches
  /// passed.
  int (*route)(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
               std::vector<LinkId>& links);
  std::vector<std::string_view>
      keys;  ///< of FabricSpec that this kind reads, beyond those that every kind takes
};

/// All kinds, in the order they are listed to users.
std::span<const Fabric> fabrics();
/// The row of that name, nullptr when there is none. An empty name means "none".
const Fabric* find_fabric(std::string_view name);

Fabric no_fabric();              // none.cpp
Fabric star_fabric();            // star.cpp
Fabric fat_tree_fabric();        // fat_tree.cpp
Fabric rail_optimized_fabric();  // rail_optimized.cpp
Fabric dragonfly_fabric();       // dragonfly.cpp
Fabric dragonfly_plus_fabric();  // dragonfly_plus.cpp
Fabric torus_fabric();           // torus.cpp
Fabric explicit_fabric();        // explicit.cpp

}  // namespace foretrain
