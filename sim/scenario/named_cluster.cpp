// The catalog finds the text, the schema reads it.
#include "sim/scenario/named_cluster.hpp"

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schemas.hpp"

namespace foretrain {

namespace {

using ClusterSchema = ClusterSpec (*)(const SourceText&, Diagnostics&);

ClusterSpec open_by(ClusterSchema read, const std::string& name) {
  const auto source = open_named(CatalogKind::clusters, name);
  if (!source) throw InputError(fmt::format("unknown cluster \"{}\"", name.substr(0, 60)), unknown_name_hint(CatalogKind::clusters, name));
  Diagnostics diagnostics(*source);
  ClusterSpec spec = read(*source, diagnostics);
  diagnostics.throw_if_any();
  return spec;
}

}  // namespace

ClusterSpec open_cluster(const std::string& name) { return open_by(read_cluster, name); }

ClusterSpec open_uncalibrated_cluster(const std::string& name) {
  ClusterSpec spec = open_by(read_uncalibrated_cluster, name);
  spec.calibration = {};
  return spec;
}

}  // namespace foretrain
