// A flow over a single link between switches can only be background. Messages of a job cross at least the
// links of two adapters between two nodes.
#include "sim/strategy/process/background_traffic.hpp"

#include <map>

#include "sim/cluster/background_load.hpp"

namespace foretrain {

namespace {

bool is_switch(const Vertex& vertex) { return vertex.node < 0; }

/// Returns whether both ends of a network link are switches.
bool joins_switches(LinkId id, const Cluster& cluster) {
  const ClusterLink link = cluster.links()[id];
  return link.kind == LinkKind::network && is_switch(cluster.vertices()[link.from]) &&
         is_switch(cluster.vertices()[link.to]);
}

}  // namespace

/// The job's own flows of weight w and a background flow of weight w x u / (1 - u) together make u the other
/// jobs' part of the bytes on the link.
void add_background(std::vector<PatternFlow>& flows, const Cluster& cluster, std::size_t shared_links) {
  const double mean = background_load(cluster.spec());
  if (mean <= 0) return;
  std::map<LinkId, double> own;
  for (const PatternFlow& flow : flows) {
    for (const LinkId link : flow.route) {
      if (joins_switches(link, cluster)) own[link] += flow.weight;
    }
  }
  const double load = busiest_link_load(mean, shared_links);
  for (const auto& [link, weight] : own) flows.push_back({{link}, weight * load / (1 - load)});
}

bool is_background(const PatternFlow& flow, const Cluster& cluster) {
  return flow.route.size() == 1 && joins_switches(flow.route.front(), cluster);
}

}  // namespace foretrain
