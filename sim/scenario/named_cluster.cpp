// Clusters by name. The catalog finds the text, the schema reads it, and for a site with several kinds of
// node the name chooses one.
#include "sim/scenario/named_cluster.hpp"

#include <algorithm>

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/scenario/gpu_servers.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/site_names.hpp"

namespace foretrain {

namespace {

using ClusterRead = ClusterSpec (*)(const SourceText&, Diagnostics&);

/// Reads a cluster that a name or a "gpu:" name stands for.
ClusterSpec read_named(const std::string& name, ClusterRead read) {
  const auto server = gpu_server_text(name);
  return server ? read_or_throw(*server, read) : open_value(CatalogKind::clusters, name, read);
}

/// Reads all files of a site and splits them into kinds of node.
std::vector<ClusterSpec> read_parts(const std::string& name, ClusterRead read) {
  std::vector<ClusterSpec> out;
  const std::vector<std::string> files = files_of_site(name);
  for (const std::string& file : files.empty() ? std::vector{name} : files) {
    for (ClusterSpec& cluster : clusters_of_site(read_named(file, read))) out.push_back(std::move(cluster));
  }
  return out;
}

/// Reads the one cluster that a name means; throws if several fit.
ClusterSpec read_one_kind(const std::string& name, ClusterRead read) {
  const std::optional<SitePart> part = site_part_of(name);
  const std::string& site = part ? part->site : name;
  return chosen_of_site(read_parts(site, read), part ? part->part : "", site);
}

}  // namespace

ClusterSpec open_cluster(const std::string& name) { return read_one_kind(name, read_cluster); }

ClusterSpec open_site(const std::string& name) {
  return site_part_of(name) || !files_of_site(name).empty() ? open_cluster(name)
                                                            : read_named(name, read_cluster);
}

std::vector<ClusterSpec> open_parts(const std::string& name) {
  return site_part_of(name) ? std::vector{open_cluster(name)} : read_parts(name, read_cluster);
}

ClusterSpec open_uncalibrated_cluster(const std::string& name) {
  ClusterSpec spec = read_one_kind(name, read_uncalibrated_cluster);
  spec.calibration = {};
  return spec;
}

ClusterSpec open_cluster(const std::string& name, const std::optional<std::string>& calibration) {
  if (!calibration) return open_cluster(name);
  if (*calibration == kNoCalibration) return open_uncalibrated_cluster(name);
  return calibrated(open_uncalibrated_cluster(name), open_calibration(*calibration));
}

Calibration open_calibration(const std::string& name) {
  return open_value(CatalogKind::calibrations, name, read_calibration);
}

}  // namespace foretrain
