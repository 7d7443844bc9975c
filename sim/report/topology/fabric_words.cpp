// Describes fabrics, and how much narrower they get above the leaves: bandwidth from below divided by
// bandwidth further up.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/fabrics/dragonfly.hpp"
#include "sim/cluster/fabrics/dragonfly_plus.hpp"
#include "sim/cluster/fabrics/explicit.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/cluster/fabrics/rail_optimized.hpp"
#include "sim/cluster/fabrics/torus.hpp"
#include "sim/report/topology/cluster_words.hpp"

namespace foretrain {

namespace {

// Computes oversubscription. It is in bytes per second, since links of two levels may differ.
struct Oversubscription {
  const ClusterSpec& spec;

  /// Returns the bandwidth of the adapters of this many nodes; there are not more nodes than the cluster has.
  double rate_of_nodes(double nodes) const {
    return std::min<double>(nodes, spec.nodes) * spec.node.nics * spec.fabric.link.bandwidth.per_second;
  }
  /// Returns the bandwidth of links between switches.
  double rate_of_uplinks(double links) const {
    const LinkType& uplink = spec.fabric.uplink;
    return links * (uplink.bandwidth.per_second > 0 ? uplink : spec.fabric.link).bandwidth.per_second;
  }
  /// Returns "2:1 oversubscribed from leaf to spine". Up to a ratio of 1.02, which covers rounding, it is
  /// "full bandwidth".
  std::string words(double down, double up, std::string_view where) const {
    const double ratio = up > 0 ? down / up : 0;
    return ratio > 1.02 ? fmt::format("{:.3g}:1 oversubscribed {}", ratio, where)
                        : fmt::format("full bandwidth {}", where);
  }
};

// Each function below describes one kind of fabric; parts that this cluster does not use are left out.
std::string fat_tree_words(const ClusterSpec& spec) {
  const FatTree& own = spec.fabric.get<FatTree>();
  const Oversubscription fabric{spec};
  // Without a second leaf there is nothing above.
  if (own.nodes_per_leaf >= spec.nodes) return "all nodes at one leaf";
  const double parallel = own.parallel_links;
  std::string out = fmt::format(
      "{} at a leaf, {}", counted(own.nodes_per_leaf, "node"),
      fabric.words(fabric.rate_of_nodes(own.nodes_per_leaf),
                   fabric.rate_of_uplinks(own.uplinks_per_leaf * parallel), "from leaf to spine"));
  // Within one group there is no core level.
  if (own.levels < 3 || own.nodes_per_leaf * own.leaves_per_group >= spec.nodes) return out;
  const int cores = own.uplinks_per_spine > 0 ? own.uplinks_per_spine : own.leaves_per_group;
  return out + ", " + fabric.words(own.leaves_per_group * parallel, cores * parallel, "from spine to core");
}

// A rail has its own leaves, so a leaf carries one adapter of each of its nodes.
std::string rail_words(const ClusterSpec& spec) {
  const RailOptimized& own = spec.fabric.get<RailOptimized>();
  const Oversubscription fabric{spec};
  const std::string rails =
      fmt::format("{}, {} at a leaf", counted(spec.node.nics, "rail"), counted(own.nodes_per_leaf, "node"));
  return rails + ", " +
         fabric.words(fabric.rate_of_nodes(own.nodes_per_leaf) / std::max(spec.node.nics, 1),
                      fabric.rate_of_uplinks(own.uplinks_per_leaf * own.parallel_links),
                      "from leaf to spine");
}

std::string dragonfly_words(const ClusterSpec& spec) {
  const Dragonfly& own = spec.fabric.get<Dragonfly>();
  const Oversubscription fabric{spec};
  // Nodes of a group; its global links lead to each of the other groups.
  const double nodes = double{1} * own.routers_per_group * own.nodes_per_router;
  const std::string groups = fmt::format("{} of {}", counted(own.groups, "group"),
                                         counted(static_cast<std::int64_t>(nodes), "node"));
  if (own.groups < 2 || nodes >= spec.nodes) return groups;
  return groups + ", " +
         fabric.words(fabric.rate_of_nodes(nodes),
                      fabric.rate_of_uplinks((own.groups - 1.0) * own.global_links), "between groups");
}

std::string dragonfly_plus_words(const ClusterSpec& spec) {
  const DragonflyPlus& own = spec.fabric.get<DragonflyPlus>();
  const Oversubscription fabric{spec};
  const double nodes = double{1} * own.leaves_per_group * own.nodes_per_leaf;
  std::string out = fmt::format(
      "{} of {}, {}", counted(own.groups, "group"), counted(static_cast<std::int64_t>(nodes), "node"),
      fabric.words(fabric.rate_of_nodes(own.nodes_per_leaf),
                   fabric.rate_of_uplinks(own.uplinks_per_leaf * own.parallel_links), "from leaf to spine"));
  if (own.groups < 2 || nodes >= spec.nodes) return out;
  return out + ", " +
         fabric.words(fabric.rate_of_nodes(nodes),
                      fabric.rate_of_uplinks((own.groups - 1.0) * own.global_links), "between groups");
}

std::string torus_words(const ClusterSpec& spec) {
  const Torus& own = spec.fabric.get<Torus>();
  return fmt::format("{} routers, {} at each", fmt::join(own.dimensions, " x "),
                     counted(own.nodes_per_router, "node"));
}

std::string star_words(const ClusterSpec&) { return "one switch that never blocks"; }

std::string explicit_words(const ClusterSpec& spec) {
  return counted(std::ssize(spec.fabric.get<ExplicitFabric>().graph), "listed link");
}

// A kind of fabric and its description. A kind without a row is only named, with its links.
struct FabricWords {
  std::string_view kind;
  std::string (*words)(const ClusterSpec&);
};
constexpr std::array<FabricWords, 7> kFabricWords{{{"star", star_words},
                                                   {"fat_tree", fat_tree_words},
                                                   {"rail_optimized", rail_words},
                                                   {"dragonfly", dragonfly_words},
                                                   {"dragonfly_plus", dragonfly_plus_words},
                                                   {"torus", torus_words},
                                                   {"explicit", explicit_words}}};

}  // namespace

std::string fabric_in_words(const ClusterSpec& spec) {
  const FabricSpec& network = spec.fabric;
  if (spec.node.nics == 0 || network.kind.empty() || network.kind == "none") return "none";
  std::string out = fmt::format("{} of {} ({} per NIC)", network.kind, network.link.name,
                                to_string(network.link.bandwidth));
  const auto row = std::ranges::find(kFabricWords, network.kind, &FabricWords::kind);
  return row == kFabricWords.end() ? out : out + ", " + row->words(spec);
}

}  // namespace foretrain
