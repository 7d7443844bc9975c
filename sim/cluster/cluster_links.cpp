// Compact storage of links. A link of a node is that of node 0 with shifted ends; a link of the fabric takes
// all but its ends from its type.
#include <algorithm>
#include <limits>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

ClusterLinks::ClusterLinks(std::vector<ClusterLink> of_node, int nodes, std::uint32_t vertices_per_node)
    : of_node_(std::move(of_node)),
      per_node_(of_node_.size()),
      in_nodes_(of_node_.size() * static_cast<std::size_t>(nodes)),
      vertices_per_node_(vertices_per_node) {}

ClusterLinks::ClusterLinks(const std::vector<std::vector<ClusterLink>>& of_type,
                           std::vector<int> type_of_node, std::uint32_t vertices_per_node)
    : type_of_node_(std::move(type_of_node)),
      per_node_(of_type.front().size()),
      in_nodes_(per_node_ * type_of_node_.size()),
      vertices_per_node_(vertices_per_node) {
  for (const std::vector<ClusterLink>& links : of_type)
    of_node_.insert(of_node_.end(), links.begin(), links.end());
}

ClusterLink ClusterLinks::operator[](std::size_t id) const {
  if (id < in_nodes_) {
    const std::size_t node = id / per_node_;
    const std::size_t type = type_of_node_.empty() ? 0 : static_cast<std::size_t>(type_of_node_[node]);
    ClusterLink link = of_node_[type * per_node_ + id % per_node_];
    const VertexId shift = static_cast<VertexId>(node) * vertices_per_node_;
    link.from += shift, link.to += shift;
    return link;
  }
  const FabricRow& row = fabric_[id - in_nodes_];
  ClusterLink link = types_[row.type];
  link.from = row.from, link.to = row.to;
  return link;
}

double ClusterLinks::slowest() const {
  double slowest = std::numeric_limits<double>::infinity();
  for (const ClusterLink& link : of_node_) slowest = std::min(slowest, link.bandwidth.per_second);
  for (const ClusterLink& type : types_) slowest = std::min(slowest, type.bandwidth.per_second);
  return slowest;
}

void ClusterLinks::add(VertexId from, VertexId to, const LinkType& type, int count) {
  const std::uint32_t number =
      number_of({0, 0, LinkKind::network, type.bandwidth * count, type.collective_efficiency, type.latency});
  fabric_.push_back({from, to, number});
}

void ClusterLinks::replace_at(VertexId first, VertexId last, const LinkType& type) {
  const std::uint32_t number =
      number_of({0, 0, LinkKind::network, type.bandwidth, type.collective_efficiency, type.latency});
  const auto is_there = [&](VertexId end) { return end >= first && end < last; };
  for (FabricRow& row : fabric_) {
    if (is_there(row.from) || is_there(row.to)) row.type = number;
  }
}

/// Fabrics add links of one type in a row, so the search from the newest type nearly always ends at once.
std::uint32_t ClusterLinks::number_of(const ClusterLink& type) {
  for (std::size_t i = types_.size(); i > 0; --i) {
    const ClusterLink& known = types_[i - 1];
    if (known.bandwidth == type.bandwidth && known.collective_efficiency == type.collective_efficiency &&
        known.latency == type.latency)
      return static_cast<std::uint32_t>(i - 1);
  }
  types_.push_back(type);
  return static_cast<std::uint32_t>(types_.size() - 1);
}

}  // namespace foretrain
