// A kind becomes a cluster of its own, so that later stages do not know the other kinds.
#include "sim/cluster/site_kinds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/cluster/node_kinds.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostKindsInWords = 3;

/// Returns whether a job in the partition can get nodes of this kind.
bool leads_to(const Partition& partition, std::string_view kind) {
  return partition.kinds.empty() || std::ranges::find(partition.kinds, kind) != partition.kinds.end();
}

/// Returns the kind as a cluster alone, with the partitions that lead to it.
ClusterSpec cluster_of_kind(const ClusterSpec& site, int kind) {
  ClusterSpec alone = as_kind(site, kind);
  alone.nodes = nodes_of_kind(site, kind);
  alone.name = fmt::format("{}/{}", site.name, name_of_kind(site, kind));
  std::erase_if(alone.site.partitions,
                [&](const Partition& partition) { return !leads_to(partition, alone.node_kind); });
  if (kind == 0) return alone;
  const NodeKind& own = site.more_nodes[static_cast<std::size_t>(kind - 1)];
  alone.site.gpu_type = own.gpu_type, alone.site.constraints = own.constraints;
  if (own.fabric) alone.fabric = *own.fabric;
  return alone;
}

}  // namespace

bool is_site(const ClusterSpec& spec) {
  if (!is_mixed(spec)) return false;
  const auto is_led_to = [](const NodeKind& kind) {
    return !kind.gpu_type.empty() || !kind.constraints.empty() || kind.fabric;
  };
  const auto names_kinds = [](const Partition& partition) { return !partition.kinds.empty(); };
  return std::ranges::any_of(spec.more_nodes, is_led_to) ||
         std::ranges::any_of(spec.site.partitions, names_kinds);
}

std::vector<ClusterSpec> clusters_of_site(const ClusterSpec& site) {
  if (!is_site(site)) return {site};
  std::vector<ClusterSpec> clusters;
  for (int kind = 0; kind < kind_count(site); ++kind) clusters.push_back(cluster_of_kind(site, kind));
  return clusters;
}

bool has_partition(const ClusterSpec& cluster, std::string_view name) {
  return std::ranges::find(cluster.site.partitions, name, &Partition::name) != cluster.site.partitions.end();
}

std::string_view part_name(const ClusterSpec& cluster) {
  return std::string_view(cluster.name).substr(cluster.name.rfind('/') + 1);
}

std::string kind_in_words(const ClusterSpec& cluster) {
  return fmt::format("{}: {} with {}x {}", part_name(cluster), counted(cluster.nodes, "node"),
                     cluster.node.gpus, cluster.node.gpu.name);
}

std::string kinds_in_words(const std::vector<ClusterSpec>& clusters) {
  std::string out;
  for (std::size_t i = 0; i < std::min(clusters.size(), kMostKindsInWords); ++i)
    out += (i == 0 ? "" : "; ") + kind_in_words(clusters[i]);
  if (clusters.size() > kMostKindsInWords)
    out += fmt::format("; {} more", clusters.size() - kMostKindsInWords);
  return out;
}

}  // namespace foretrain
