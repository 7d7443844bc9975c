// The kinds of network between nodes: a table of functions, one file each.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <variant>
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

/// A key that takes one value into the kind's own options.
template <typename Value>
struct FabricValue {
  void (*put)(FabricSpec&, Value);
};

/// Parallel links that a file may give a link of the fabric.
inline constexpr int kThickestLink = 1024;

/// One of a kind's own options as a cluster file may set it.
struct FabricKey {
  std::string_view name;      ///< key in [fabric]
  std::string_view fallback;  ///< what holds when it is missing, in words
  std::string_view meaning;
  std::variant<FabricValue<int>, FabricValue<bool>, FabricValue<std::vector<int>>,
               FabricValue<std::vector<FabricLink>>>
      value;
  int least = 1, most = kMostNodes;  ///< of a number
};

template <typename Member>
struct FabricMember;
template <typename T, typename O>
struct FabricMember<T O::*> {
  using Options = O;
  using Value = T;
};

/// The option behind a member of a kind's options, as in fabric_option<&Torus::dimensions>().
template <auto Member>
auto fabric_option() {
  using Of = FabricMember<decltype(Member)>;
  return FabricValue<typename Of::Value>{[](FabricSpec& spec, typename Of::Value value) {
    spec.edit<typename Of::Options>().*Member = std::move(value);
  }};
}

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
  bool takes_uplink = false;  ///< there are links between switches, of a type of their own
  std::vector<FabricKey> keys{};
  std::vector<LinkType*> (*own_links)(FabricSpec& spec) = nullptr;  ///< among the kind's options
};

/// All kinds, in the order they are listed to users.
std::span<const Fabric> fabrics();
/// The row of that name, nullptr when there is none. An empty name means "none".
const Fabric* find_fabric(std::string_view name);

/// Every link type that a fabric holds: its link, its uplink, and those among its kind's options.
std::vector<LinkType*> link_types_of(FabricSpec& spec);

Fabric no_fabric();    // none.cpp
Fabric star_fabric();  // star.cpp

}  // namespace foretrain
