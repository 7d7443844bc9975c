// The catalog finds the text, the schema reads it.
#include "sim/scenario/named_cluster.hpp"

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/scenario/gpu_servers.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

ClusterSpec open_cluster(const std::string& name) {
  if (const auto server = gpu_server_text(name)) return read_or_throw(*server, read_cluster);
  return open_value(CatalogKind::clusters, name, read_cluster);
}

ClusterSpec open_uncalibrated_cluster(const std::string& name) {
  const auto server = gpu_server_text(name);
  ClusterSpec spec = server ? read_or_throw(*server, read_uncalibrated_cluster)
                            : open_value(CatalogKind::clusters, name, read_uncalibrated_cluster);
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
