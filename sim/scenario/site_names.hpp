// Names of parts of a site: "m3/m3g", "./site.toml/a100". The part is a partition, a kind of node or a type
// of GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// A cluster's name or path, and which of its kinds of node.
struct SitePart {
  std::string site, part;
};

/// Nothing for a name that has no part: "puhti", "./site.toml", "folder/site.toml".
std::optional<SitePart> site_part_of(const std::string& name);

/// The one of a site's clusters to which a part leads: a kind of that name, else a partition, else a type of
/// GPU or a feature. With a partition, the others are left out of its site. Without a part the only cluster
/// there is. `asked` is the site's name as typed, for hints. Throws InputError that names what is there where
/// none or several fit.
ClusterSpec chosen_of_site(const std::vector<ClusterSpec>& clusters, std::string_view part,
                           const std::string& asked);

/// "--cluster ./site.toml/a40, or ./site.toml/a100"
std::string how_to_choose(const std::vector<ClusterSpec>& clusters, const std::string& asked);

/// The clusters of the catalog whose site is called so: parts of one machine in several files. None where a
/// cluster has that name itself.
std::vector<std::string> files_of_site(const std::string& site);

}  // namespace foretrain
