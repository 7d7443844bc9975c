// Links in words. A device needs its node's number, unless both ends of the link share the node.
#include <fmt/format.h>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/cluster/node_layout.hpp"

namespace foretrain {

namespace {

std::string full_name(const Vertex& vertex) {
  return vertex.node < 0 ? name_of(vertex) : fmt::format("{} of node {}", name_of(vertex), vertex.node);
}

}  // namespace

std::string describe_link(const Cluster& cluster, LinkId link) {
  const ClusterLink& ends = cluster.links()[link];
  const Vertex &from = cluster.vertices()[ends.from], &to = cluster.vertices()[ends.to];
  if (from.node >= 0 && from.node == to.node)
    return fmt::format("{} to {} in node {}", name_of(from), name_of(to), from.node);
  return fmt::format("{} to {}", full_name(from), full_name(to));
}

}  // namespace foretrain
