// Names the links of one node by the devices that they join. Links of other nodes are alike and not listed.
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/cluster/node_layout.hpp"

namespace foretrain {

namespace {

/// Returns, by link, true for those that any pattern of traffic of the graph crosses.
std::vector<bool> used_links(const TaskGraph& graph, std::size_t links) {
  std::vector<bool> used(links, false);
  for (PatternId pattern = 0; pattern < graph.pattern_count(); ++pattern) {
    for (const PatternFlow& flow : graph.pattern(pattern)) {
      for (const LinkId link : flow.route) used[link] = true;
    }
  }
  return used;
}

}  // namespace

std::vector<RecordedLink> recorded_links(const TaskGraph& graph, const Cluster& cluster, int node) {
  const ClusterLinks& links = cluster.links();
  const std::vector<bool> used = used_links(graph, links.size());
  std::vector<RecordedLink> out;
  for (LinkId id = 0; id < links.size(); ++id) {
    if (!used[id]) continue;
    const ClusterLink link = links[id];
    const Vertex &from = cluster.vertices()[link.from], &to = cluster.vertices()[link.to];
    if (from.node != node && to.node != node) continue;
    const std::string name =
        link.from == link.to ? name_of(from) + " through host memory" : name_of(from) + " to " + name_of(to);
    out.push_back({id, name, link.bandwidth});
  }
  return out;
}

}  // namespace foretrain
