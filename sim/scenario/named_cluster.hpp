// A cluster by name or path, for commands that need nothing else of a scenario.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Reads an entry of the cluster catalog, or a file when the name has a slash or ends in ".toml". If a site
/// has several kinds of node, the name's last part chooses one ("./site.toml/a100"). Throws InputError with
/// every mistake in the file, with near names if there is no such entry, or with the kinds of a site that has
/// several.
ClusterSpec open_cluster(const std::string& name);
/// As above, with all kinds of node that the file has.
ClusterSpec open_site(const std::string& name);
/// Returns every kind of node of a site as a cluster of its own; one for other clusters, and for a part of a
/// site.
std::vector<ClusterSpec> open_parts(const std::string& name);
/// Reads a cluster as if its file named no calibration.
ClusterSpec open_uncalibrated_cluster(const std::string& name);
/// Reads a cluster with a calibration of the catalog, or a file, instead of its own. kNoCalibration: without
/// any. nullopt: with its own.
ClusterSpec open_cluster(const std::string& name, const std::optional<std::string>& calibration);

/// Reads an entry of the catalog, or a file. Throws InputError like open_cluster().
Calibration open_calibration(const std::string& name);
inline constexpr std::string_view kNoCalibration = "none";

}  // namespace foretrain
