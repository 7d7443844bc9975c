// The catalog finds the text, the schema reads it.
#include "sim/scenario/named_cluster.hpp"

#include <fmt/format.h>

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

template <class Value>
Value open_by(CatalogKind kind, Value (*read)(const SourceText&, Diagnostics&), const std::string& name) {
  const auto source = open_named(kind, name);
  if (!source)
    throw InputError(fmt::format("unknown {} \"{}\"", noun_of(kind), name.substr(0, 60)),
                     unknown_name_hint(kind, name));
  Diagnostics diagnostics(*source);
  Value value = read(*source, diagnostics);
  diagnostics.throw_if_any();
  return value;
}

}  // namespace

ClusterSpec open_cluster(const std::string& name) {
  return open_by<ClusterSpec>(CatalogKind::clusters, read_cluster, name);
}

ClusterSpec open_uncalibrated_cluster(const std::string& name) {
  ClusterSpec spec = open_by<ClusterSpec>(CatalogKind::clusters, read_uncalibrated_cluster, name);
  spec.calibration = {};
  return spec;
}

ClusterSpec open_cluster(const std::string& name, const std::optional<std::string>& calibration) {
  if (!calibration) return open_cluster(name);
  if (*calibration == kNoCalibration) return open_uncalibrated_cluster(name);
  return calibrated(open_uncalibrated_cluster(name), open_calibration(*calibration));
}

Calibration open_calibration(const std::string& name) {
  return open_by<Calibration>(CatalogKind::calibrations, read_calibration, name);
}

}  // namespace foretrain
