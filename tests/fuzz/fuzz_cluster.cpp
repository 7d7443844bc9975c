// Fuzz target: cluster files from any bytes; a cluster without mistakes must pass check(), build, and have
// its routes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/cluster/cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace {

/// Slashes make paths of names; the target must not open whatever file the bytes name.
std::string without_paths(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{"fuzz.toml", without_paths(data, size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::ClusterSpec spec = foretrain::read_cluster(source, diagnostics);
  if (!diagnostics.empty()) {
    if (format(diagnostics.found()).empty()) std::abort();
    return 0;
  }
  if (!foretrain::check(spec).empty()) std::abort();
  const foretrain::Cluster cluster = foretrain::Cluster::build(spec, std::min(spec.nodes, 3));
  if (cluster.capacities().size() != cluster.links().size()) std::abort();
  const int last = cluster.nodes() - 1;
  const int nics = std::min(cluster.node_spec(0).nics, cluster.node_spec(last).nics);
  for (int nic = 0; last > 0 && nic < nics; ++nic) {
    const foretrain::Route route =
        cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(last, 0), nic, nics - 1 - nic);
    if (route.links.empty() || cluster.links()[route.links.back()].to != cluster.gpu(last, 0)) std::abort();
  }
  return 0;
}
