// Storage of link loads. A link of a node has one load per class of nodes. Links of NICs have an array, and
// other links of the fabric have entries only if they are used.
//
// Load is counted in bytes per byte of message, so that one count serves all sizes. The fullest link, by load
// over rate, is the bottleneck that plans and reports name.
#include "sim/collective/link_loads.hpp"

#include <algorithm>
#include <map>
#include <tuple>

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
  const auto last =
      std::find_if(class_of_.rbegin(), class_of_.rend(), [](int node_class) { return node_class >= 0; });
  const auto nodes = static_cast<std::size_t>(class_of_.rend() - last);
  const std::size_t nic_links = 2 * nodes * static_cast<std::size_t>(cluster.room().nics);
  of_nics_.resize(std::min(nic_links, cluster.links().size() - first_fabric_link_));
}

const LinkLoads::Load* LinkLoads::find(LinkId link) const {
  if (is_at_nic(link)) return &of_nics_[link - first_fabric_link_];
  if (link < first_fabric_link_) {
    const int node_class = class_of_[link / links_per_node_];
    return node_class < 0
               ? nullptr
               : &of_nodes_[static_cast<std::size_t>(node_class) * links_per_node_ + link % links_per_node_];
  }
  const auto number = std::ranges::find(inner_.links(), link) - inner_.links().begin();
  return static_cast<std::size_t>(number) == of_inner_.size() ? nullptr
                                                              : &of_inner_[static_cast<std::size_t>(number)];
}

LinkLoads::Load& LinkLoads::in_fabric(LinkId link) {
  if (is_at_nic(link)) return of_nics_[link - first_fabric_link_];
  const std::uint32_t number = inner_.of(link);
  if (number == of_inner_.size()) of_inner_.emplace_back();
  return of_inner_[number];
}

void LinkLoads::add_inside(int node_class, const Route& route, double share) {
  for (const LinkId link : route.links)
    at_node(node_class, link).inside += share / route.collective_efficiency;
}

void LinkLoad::add_between(double share, double efficiency) {
  between += share / efficiency;
  between_plain += share;
}

/// Adds the load of a leg if the node is the first of its class.
void LinkLoads::add_leg(int node, const NicLeg& leg, double share, double efficiency) {
  const int node_class = class_of_[static_cast<std::size_t>(node)];
  if (first_of_class_[static_cast<std::size_t>(node_class)] != node) return;
  for (const LinkId link : leg.links) at_node(node_class, link).add_between(share, efficiency);
}

void LinkLoads::add_between(int from_node, int to_node, const NodeToNodeRoute& way, double share) {
  const double plain = share / way.sum.bandwidth.per_second, efficiency = way.collective_efficiency;
  alone_between_ = std::max(alone_between_, plain / efficiency);
  alone_between_plain_ = std::max(alone_between_plain_, plain);
  largest_share_ = std::max(largest_share_, share);
  add_leg(from_node, *way.out, share, efficiency);
  for (const LinkId link : way.fabric) in_fabric(link).add_between(share, efficiency);
  add_leg(to_node, *way.in, share, efficiency);
}

AlikeLinks LinkLoads::alike(LinkId id, const Load& load) const {
  const ByteRate rate =
      id < first_fabric_link_ ? cluster_.links()[id].bandwidth : cluster_.links().of_fabric(id).bandwidth;
  return {rate.per_second, is_at_nic(id), load, id};
}

/// Collects the distinct loads in a map. Neighbours are mostly alike, and then no look-up is needed.
std::vector<AlikeLinks> LinkLoads::distinct() const {
  std::map<std::tuple<double, bool, Load>, LinkId> known;
  AlikeLinks before;
  const auto add = [&](LinkId id, const Load& load) {
    if (load == Load{}) return;
    const AlikeLinks links = alike(id, load);
    if (links.rate == before.rate && links.at_nic == before.at_nic && load == before.load &&
        before.first < id)
      return;
    LinkId& first = known.try_emplace({links.rate, links.at_nic, load}, id).first->second;
    first = std::min(first, id);
    before = links;
  };
  for (std::size_t slot = 0; slot < of_nodes_.size(); ++slot)
    add(cluster_.first_link(first_of_class_[slot / links_per_node_]) +
            static_cast<LinkId>(slot % links_per_node_),
        of_nodes_[slot]);
  for (std::size_t i = 0; i < of_nics_.size(); ++i)
    add(first_fabric_link_ + static_cast<LinkId>(i), of_nics_[i]);
  for (std::size_t i = 0; i < of_inner_.size(); ++i) add(inner_.links()[i], of_inner_[i]);
  std::vector<AlikeLinks> links;
  for (const auto& [what, first] : known)
    links.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what), first});
  return links;
}

namespace {

/// Returns the time of a link per byte of message. A limit of the NIC applies to its own links only: a faster
/// wire behind it or in front of it makes nothing slower.
double seconds_per_byte(const AlikeLinks& links, const TrafficEfficiency& efficiency) {
  const double inside = links.load.inside / (links.rate * efficiency.inside);
  if (efficiency.most_between.per_second <= 0)
    return inside + links.load.between / (links.rate * efficiency.between);
  const double limit = links.at_nic ? efficiency.most_between.per_second / links.rate : efficiency.between;
  return inside + links.load.between_plain / (links.rate * std::min(efficiency.between, limit));
}

}  // namespace

Bottleneck slowest_of(const std::vector<AlikeLinks>& links, const TrafficEfficiency& efficiency, Leg leg) {
  Bottleneck slowest;
  for (const AlikeLinks& each : links) {
    if ((leg == Leg::inside ? each.load.inside : each.load.between) <= 0) continue;
    const double taken = seconds_per_byte(each, efficiency);
    if (taken > slowest.seconds_per_byte || (taken == slowest.seconds_per_byte && each.first < slowest.link))
      slowest = {taken, each.first};
  }
  return slowest;
}

double LinkLoads::isolated_between(const Efficiency& efficiency) const {
  if (efficiency.most_between.per_second <= 0) return alone_between_ / efficiency.between;
  return std::max(alone_between_plain_ / efficiency.between,
                  largest_share_ / efficiency.most_between.per_second);
}

double LinkLoads::load(LinkId link, Leg leg) const {
  const Load* load = find(link);
  if (load == nullptr) return 0;
  return leg == Leg::inside ? load->inside : load->between;
}

}  // namespace foretrain
