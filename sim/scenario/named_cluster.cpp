// The catalog finds the text, the schema reads it.
#include "sim/scenario/named_cluster.hpp"

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schemas.hpp"

namespace foretrain {

ClusterSpec open_cluster(const std::string& name) {
  const auto source = open_named(CatalogKind::clusters, name);
  if (!source) throw InputError(fmt::format("unknown cluster \"{}\"", name.substr(0, 60)), unknown_name_hint(CatalogKind::clusters, name));
  Diagnostics diagnostics(*source);
  ClusterSpec spec = read_cluster(*source, diagnostics);
  diagnostics.throw_if_any();
  return spec;
}

}  // namespace foretrain
