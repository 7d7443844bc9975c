// The kinds of network between nodes: a table of functions, with one file for each kind.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// The numbers at which a fabric's parts begin in the numbering of the cluster.
struct FabricSite {
  /// Nodes in use.
  int nodes = 0;
  /// NICs per node.
  int nics = 0;
  /// The vertex nic0 of node 0.
  VertexId first_nic = 0;
  std::uint32_t vertices_per_node = 0;
  /// The next vertex to be added.
  VertexId first_switch = 0;
  /// The next link to be added.
  LinkId first_link = 0;
  /// Filled by build() of an explicit fabric.
  const FabricMap* map = nullptr;
};

/// A NIC: the beginning or the end of a route through the fabric.
struct FabricPort {
  int node = 0;
  int nic = 0;
};

/// Vertices and links, which grow while a fabric is built.
struct FabricParts {
  std::vector<Vertex>& vertices;
  ClusterLinks& links;
  FabricMap& map;
};

/// A key with one value, which `put` writes into the options of the kind.
template <typename Value>
struct FabricValue {
  void (*put)(FabricSpec&, Value);
};

/// Largest number of parallel links that a file may give a link of the fabric.
inline constexpr int kThickestLink = 1024;

/// An option of one kind of fabric that a cluster file may set.
struct FabricKey {
  /// Name of the key in [fabric].
  std::string_view name;
  /// The value that holds when the key is missing, in words.
  std::string_view fallback;
  std::string_view meaning;
  std::variant<FabricValue<int>, FabricValue<bool>, FabricValue<std::vector<int>>,
               FabricValue<std::vector<FabricLink>>>
      value;
  /// Limits of a number.
  int least = 1, most = kMostNodes;
};

/// Splits the type of a pointer to a member into the types of its class and its value.
template <typename Member>
struct FabricMember;
template <typename T, typename O>
struct FabricMember<T O::*> {
  using Options = O;
  using Value = T;
};

/// Returns the option behind a member of a kind's options, as in fabric_option<&Torus::dimensions>().
template <auto Member>
auto fabric_option() {
  using Of = FabricMember<decltype(Member)>;
  return FabricValue<typename Of::Value>{[](FabricSpec& spec, typename Of::Value value) {
    spec.edit<typename Of::Options>().*Member = std::move(value);
  }};
}

/// A kind of fabric: its checks, its construction and its routes.
struct Fabric {
  /// Name of the kind, as in FabricSpec::kind.
  std::string_view name;
  std::string_view summary;
  /// Returns the faults of its own parameters: whether they are present and consistent. check() finds the
  /// common faults.
  std::vector<ClusterFault> (*check)(const ClusterSpec& spec);
  /// Appends its switches and links. Requires that check() found nothing.
  void (*build)(const FabricSpec& spec, const FabricSite& site, FabricParts parts);
  /// Appends the links from one NIC to a NIC of another node, and returns the number of switches passed.
  int (*route)(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
               std::vector<LinkId>& links);
  /// There are links between switches, which may have a type of their own.
  bool takes_uplink = false;
  std::vector<FabricKey> keys{};
  /// Returns the link types among the kind's options; nullptr: there are none.
  std::vector<LinkType*> (*own_links)(FabricSpec& spec) = nullptr;
};

/// Returns all kinds in the order in which they are listed to users.
std::span<const Fabric> fabrics();
/// Returns the row of that name, or nullptr. An empty name means "none".
const Fabric* find_fabric(std::string_view name);

/// Returns every link type that a fabric holds: its link, its uplink, and those among its kind's options.
std::vector<LinkType*> link_types_of(FabricSpec& spec);

Fabric no_fabric();    // none.cpp
Fabric star_fabric();  // star.cpp

}  // namespace foretrain
