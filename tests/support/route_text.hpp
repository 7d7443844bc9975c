// Routes as text: the devices a route passes, for tests that compare it whole.
#pragma once

#include <string>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"

namespace foretrain::test {

/// "gpu0", with the node where there are several: "gpu0@1"; switches of the fabric have none.
inline std::string device_text(const Cluster& cluster, VertexId id) {
  const Vertex& vertex = cluster.vertices()[id];
  const bool with_node = cluster.nodes() > 1 && vertex.node >= 0;
  return name_of(vertex) + (with_node ? "@" + std::to_string(vertex.node) : "");
}

/// "gpu0 switch0 cpu0 …"; "broken" when a link does not begin where the one before ends.
inline std::string route_text(const Cluster& cluster, const Route& route) {
  std::string text;
  for (std::size_t i = 0; i < route.links.size(); ++i) {
    const ClusterLink& link = cluster.links()[route.links[i]];
    if (i == 0) text = device_text(cluster, link.from);
    if (i > 0 && cluster.links()[route.links[i - 1]].to != link.from) return "broken";
    text += " " + device_text(cluster, link.to);
  }
  return text;
}

}  // namespace foretrain::test
