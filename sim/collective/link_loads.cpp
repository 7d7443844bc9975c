// A link of a node has one slot per class of nodes, one of the fabric its own.
#include "sim/collective/link_loads.hpp"

#include <algorithm>

namespace foretrain {

LinkLoads::LinkLoads(const Cluster& cluster, std::vector<int> class_of)
    : cluster_(cluster),
      class_of_(std::move(class_of)),
      links_per_node_(cluster.first_link(1)),
      first_fabric_link_(cluster.first_link(cluster.nodes())) {
  for (std::size_t node = 0; node < class_of_.size(); ++node) {
    const std::size_t c = static_cast<std::size_t>(std::max(0, class_of_[node]));
    if (c >= first_of_class_.size()) first_of_class_.resize(c + 1, -1);
    if (class_of_[node] >= 0 && first_of_class_[c] < 0) first_of_class_[c] = static_cast<int>(node);
  }
  loads_.resize(first_of_class_.size() * links_per_node_ + (cluster.links().size() - first_fabric_link_));
}

std::size_t LinkLoads::slot_of(LinkId link) const {
  if (link >= first_fabric_link_) return first_of_class_.size() * links_per_node_ + (link - first_fabric_link_);
  const std::size_t node_class = static_cast<std::size_t>(class_of_[link / links_per_node_]);
  return node_class * links_per_node_ + link % links_per_node_;
}

LinkId LinkLoads::link_of(std::size_t slot) const {
  const std::size_t inside = first_of_class_.size() * links_per_node_;
  if (slot >= inside) return first_fabric_link_ + static_cast<LinkId>(slot - inside);
  return cluster_.first_link(first_of_class_[slot / links_per_node_]) + static_cast<LinkId>(slot % links_per_node_);
}

void LinkLoads::add_inside(int node_class, const Route& route, double share) {
  const std::size_t first = static_cast<std::size_t>(node_class) * links_per_node_;
  for (const LinkId link : route.links) loads_[first + link].inside += share / route.collective_efficiency;
}

void LinkLoads::add_between(int from_node, int to_node, const Route& route, double share) {
  const double plain = share / route.bandwidth.per_second;
  alone_between_ = std::max(alone_between_, plain / route.collective_efficiency);
  alone_between_plain_ = std::max(alone_between_plain_, plain);
  const bool count_from = first_of_class_[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(from_node)])] == from_node;
  const bool count_to = first_of_class_[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(to_node)])] == to_node;
  for (const LinkId link : route.links) {
    if (link < first_fabric_link_) {
      const bool in_from = link / links_per_node_ == static_cast<LinkId>(from_node);
      if (in_from ? !count_from : !count_to) continue;
    }
    Load& load = loads_[slot_of(link)];
    load.between += share / route.collective_efficiency;
    load.between_plain += share;
  }
}

double LinkLoads::seconds(const Load& load, const ClusterLink& link, const Efficiency& efficiency) const {
  const double rate = link.bandwidth.per_second;
  const double inside = load.inside / (rate * efficiency.inside);
  if (efficiency.most_between.per_second <= 0) return inside + load.between / (rate * efficiency.between);
  const double nic = cluster_.spec().fabric.link.bandwidth.per_second;
  return inside + load.between_plain / (rate * std::min(efficiency.between, efficiency.most_between.per_second / nic));
}

Bottleneck LinkLoads::slowest(const Efficiency& efficiency, Leg leg) const {
  Bottleneck slowest;
  for (std::size_t slot = 0; slot < loads_.size(); ++slot) {
    const Load& load = loads_[slot];
    if ((leg == Leg::inside ? load.inside : load.between) <= 0) continue;
    const LinkId link = link_of(slot);
    const double taken = seconds(load, cluster_.links()[link], efficiency);
    if (taken > slowest.seconds_per_byte) slowest = {taken, link};
  }
  return slowest;
}

double LinkLoads::alone_between(const Efficiency& efficiency) const {
  if (efficiency.most_between.per_second <= 0) return alone_between_ / efficiency.between;
  const double nic = cluster_.spec().fabric.link.bandwidth.per_second;
  return alone_between_plain_ / std::min(efficiency.between, efficiency.most_between.per_second / nic);
}

double LinkLoads::load(LinkId link, Leg leg) const {
  if (link < first_fabric_link_ && class_of_[link / links_per_node_] < 0) return 0;
  const Load& load = loads_[slot_of(link)];
  return leg == Leg::inside ? load.inside : load.between;
}

}  // namespace foretrain
