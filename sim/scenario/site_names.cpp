// Parts of sites. The last part of a name after a slash is a part of a site only if the text before it is a
// cluster.
#include "sim/scenario/site_names.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// Number of examples in a hint.
constexpr std::size_t kMostNamedParts = 3;

bool is_file(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored);
}

/// Returns whether a part is the type of GPU or a feature of a cluster's nodes.
bool leads_by_type(const ClusterSpec& cluster, std::string_view part) {
  const std::vector<std::string>& features = cluster.site.constraints;
  return lower_case(cluster.site.gpu_type) == lower_case(part) || cluster.node.gpu.name == part ||
         std::ranges::find(features, part) != features.end();
}

/// Returns the parts that a name may end in, in words: partitions, else the kinds.
std::string parts_in_words(const std::vector<ClusterSpec>& clusters) {
  std::vector<std::string> names;
  for (const ClusterSpec& cluster : clusters) {
    for (const Partition& partition : cluster.site.partitions) {
      if (std::ranges::find(names, partition.name) == names.end()) names.push_back(partition.name);
    }
    if (cluster.site.partitions.empty()) names.emplace_back(part_name(cluster));
  }
  constexpr std::size_t kMostListed = 12;
  const std::size_t more = names.size() > kMostListed ? names.size() - kMostListed : 0;
  names.resize(names.size() - more);
  return fmt::format("known: {}{}", fmt::join(names, ", "), more > 0 ? fmt::format(", {} more", more) : "");
}

}  // namespace

std::optional<SitePart> site_part_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == name.size() || name.ends_with(".toml"))
    return std::nullopt;
  const std::string site = name.substr(0, slash), part = name.substr(slash + 1);
  const bool is_path = site.find('/') != std::string::npos || site.ends_with(".toml");
  if (is_path)
    return site.ends_with(".toml") && !is_file(name) ? std::optional(SitePart{site, part}) : std::nullopt;
  const std::vector<std::string> known = names_in(CatalogKind::clusters);
  const bool is_known = std::ranges::find(known, site) != known.end();
  return is_known || !files_of_site(site).empty() ? std::optional(SitePart{site, part}) : std::nullopt;
}

ClusterSpec chosen_of_site(const std::vector<ClusterSpec>& clusters, std::string_view part,
                           const std::string& asked) {
  if (part.empty() && clusters.size() == 1) return clusters.front();
  if (part.empty())
    throw InputError(fmt::format("{} has {} kinds of nodes, and a job gets one: {}", shortened(asked),
                                 clusters.size(), kinds_in_words(clusters)),
                     how_to_choose(clusters, asked));
  std::vector<ClusterSpec> found;
  // The first rule that finds clusters decides; later ones are skipped.
  const auto take = [&](const auto& leads) {
    if (found.empty()) std::ranges::copy_if(clusters, std::back_inserter(found), leads);
  };
  take([&](const ClusterSpec& cluster) { return clusters.size() > 1 && part_name(cluster) == part; });
  const bool is_kind = !found.empty();
  take([&](const ClusterSpec& cluster) { return has_partition(cluster, part); });
  take([&](const ClusterSpec& cluster) { return leads_by_type(cluster, part); });
  if (found.empty())
    throw InputError(fmt::format("{} has no partition, kind of node or type of GPU \"{}\"", shortened(asked),
                                 printable(shortened(part, 60))),
                     parts_in_words(clusters));
  if (found.size() > 1)
    throw InputError(fmt::format("\"{}\" leads to {} kinds of nodes of {}: {}", printable(part), found.size(),
                                 shortened(asked), kinds_in_words(found)),
                     how_to_choose(found, asked));
  ClusterSpec chosen = std::move(found.front());
  if (!is_kind && has_partition(chosen, part))
    std::erase_if(chosen.site.partitions, [&](const Partition& other) { return other.name != part; });
  return chosen;
}

std::string how_to_choose(const std::vector<ClusterSpec>& clusters, const std::string& asked) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(clusters.size(), kMostNamedParts); ++i) {
    const bool is_file_part = clusters[i].name.find('/') != std::string::npos;
    names.push_back(is_file_part ? fmt::format("{}/{}", asked, part_name(clusters[i])) : clusters[i].name);
  }
  return fmt::format("--cluster {}; or --partition NAME", fmt::join(names, ", or "));
}

std::vector<std::string> files_of_site(const std::string& site) {
  if (site.find('/') != std::string::npos || site.ends_with(".toml")) return {};
  const std::vector<std::string> names = names_in(CatalogKind::clusters);
  if (std::ranges::find(names, site) != names.end()) return {};
  std::vector<std::string> out;
  for (const std::string& name : names) {
    // Names of parts begin with the site's name, so other files need not be read.
    if (!name.starts_with(site + "-")) continue;
    const auto source = open_named(CatalogKind::clusters, name);
    if (source && read_or_throw(*source, read_uncalibrated_cluster).site.name == site) out.push_back(name);
  }
  return out;
}

}  // namespace foretrain
