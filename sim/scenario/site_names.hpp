// Names of parts of a site: "m3/m3g", "./site.toml/a100". A part is a partition, a kind of node or a type of
// GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// A cluster's name or path, and the part that chooses one of its kinds of node.
struct SitePart {
  std::string site, part;
};

/// Splits a name; nullopt for one without a part: "puhti", "./site.toml", "folder/site.toml".
std::optional<SitePart> site_part_of(const std::string& name);

/// Returns the site's cluster that a part means: a kind of that name, else a partition, else a type of GPU or
/// a feature. If it is a partition, the others are removed from the site. Without a part it is the only
/// cluster. `asked` is the site's name as typed, for hints. Throws InputError with the known parts if none or
/// several fit.
ClusterSpec chosen_of_site(const std::vector<ClusterSpec>& clusters, std::string_view part,
                           const std::string& asked);

/// Returns a hint: "--cluster ./site.toml/a40, or ./site.toml/a100".
std::string how_to_choose(const std::vector<ClusterSpec>& clusters, const std::string& asked);

/// Returns the clusters of the catalog whose site has this name: parts of one machine in several files. Empty
/// if a cluster has that name itself.
std::vector<std::string> files_of_site(const std::string& site);

}  // namespace foretrain
