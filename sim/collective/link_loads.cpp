// A link of a node has one load per class of nodes; those of NICs stand in a row, and of the fabric inside only what is used.
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
  of_nodes_.resize(first_of_class_.size() * links_per_node_);
  const auto last = std::find_if(class_of_.rbegin(), class_of_.rend(), [](int node_class) { return node_class >= 0; });
  const auto nodes = static_cast<std::size_t>(class_of_.rend() - last);
  const std::size_t nic_links = 2 * nodes * static_cast<std::size_t>(cluster.spec().node.nics);
  of_nics_.resize(std::min(nic_links, cluster.links().size() - first_fabric_link_));
}

const LinkLoads::Load* LinkLoads::find(LinkId link) const {
  if (is_at_nic(link)) return &of_nics_[link - first_fabric_link_];
  if (link < first_fabric_link_) {
    const int node_class = class_of_[link / links_per_node_];
    return node_class < 0 ? nullptr : &of_nodes_[static_cast<std::size_t>(node_class) * links_per_node_ + link % links_per_node_];
  }
  const auto number = std::ranges::find(inner_.links(), link) - inner_.links().begin();
  return static_cast<std::size_t>(number) == of_inner_.size() ? nullptr : &of_inner_[static_cast<std::size_t>(number)];
}

LinkLoads::Load& LinkLoads::at(LinkId link) {
  if (link < first_fabric_link_) return at_node(class_of_[link / links_per_node_], link % links_per_node_);
  if (is_at_nic(link)) return of_nics_[link - first_fabric_link_];
  const std::uint32_t number = inner_.of(link);
  if (number == of_inner_.size()) of_inner_.emplace_back();
  return of_inner_[number];
}

void LinkLoads::add_inside(int node_class, const Route& route, double share) {
  for (const LinkId link : route.links) at_node(node_class, link).inside += share / route.collective_efficiency;
}

void LinkLoads::add_between(int from_node, int to_node, const Route& route, double share) {
  const double plain = share / route.bandwidth.per_second;
  alone_between_ = std::max(alone_between_, plain / route.collective_efficiency);
  alone_between_plain_ = std::max(alone_between_plain_, plain);
  largest_share_ = std::max(largest_share_, share);
  const bool count_from = first_of_class_[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(from_node)])] == from_node;
  const bool count_to = first_of_class_[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(to_node)])] == to_node;
  for (const LinkId link : route.links) {
    if (link < first_fabric_link_) {
      const bool in_from = link / links_per_node_ == static_cast<LinkId>(from_node);
      if (in_from ? !count_from : !count_to) continue;
    }
    Load& load = at(link);
    load.between += share / route.collective_efficiency;
    load.between_plain += share;
  }
}

bool LinkLoads::has_limit_of_nic(const ClusterLink& link) const {
  const auto is_nic = [this](VertexId vertex) { return cluster_.vertices()[vertex].kind == VertexKind::nic; };
  return link.kind == LinkKind::network && (is_nic(link.from) || is_nic(link.to));
}

/// The limit is the NIC's: a faster wire behind it, or in front of it, makes nothing slower.
double LinkLoads::seconds(const Load& load, const ClusterLink& link, const Efficiency& efficiency) const {
  const double rate = link.bandwidth.per_second;
  const double inside = load.inside / (rate * efficiency.inside);
  if (efficiency.most_between.per_second <= 0) return inside + load.between / (rate * efficiency.between);
  const double limit = has_limit_of_nic(link) ? efficiency.most_between.per_second / rate : efficiency.between;
  return inside + load.between_plain / (rate * std::min(efficiency.between, limit));
}

/// Of equally slow links the one with the lowest number.
void LinkLoads::take_slower(Bottleneck& slowest, LinkId link, const Load& load, const Efficiency& efficiency, Leg leg) const {
  if ((leg == Leg::inside ? load.inside : load.between) <= 0) return;
  const double taken = seconds(load, cluster_.links()[link], efficiency);
  if (taken > slowest.seconds_per_byte || (taken == slowest.seconds_per_byte && link < slowest.link)) slowest = {taken, link};
}

Bottleneck LinkLoads::slowest(const Efficiency& efficiency, Leg leg) const {
  Bottleneck slowest;
  for (std::size_t slot = 0; slot < of_nodes_.size(); ++slot) {
    const LinkId first = cluster_.first_link(first_of_class_[slot / links_per_node_]);
    take_slower(slowest, first + static_cast<LinkId>(slot % links_per_node_), of_nodes_[slot], efficiency, leg);
  }
  for (std::size_t i = 0; i < of_nics_.size(); ++i)
    take_slower(slowest, first_fabric_link_ + static_cast<LinkId>(i), of_nics_[i], efficiency, leg);
  for (std::size_t i = 0; i < of_inner_.size(); ++i) take_slower(slowest, inner_.links()[i], of_inner_[i], efficiency, leg);
  return slowest;
}

double LinkLoads::alone_between(const Efficiency& efficiency) const {
  if (efficiency.most_between.per_second <= 0) return alone_between_ / efficiency.between;
  return std::max(alone_between_plain_ / efficiency.between, largest_share_ / efficiency.most_between.per_second);
}

double LinkLoads::load(LinkId link, Leg leg) const {
  const Load* load = find(link);
  if (load == nullptr) return 0;
  return leg == Leg::inside ? load->inside : load->between;
}

}  // namespace foretrain
