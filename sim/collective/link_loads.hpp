// How many bytes a collective puts on every link, per byte of message: nodes that do the same share one
// count.
#pragma once

#include <compare>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/engine/link_numbers.hpp"

namespace foretrain {

/// The link that needs longest for its bytes.
struct Bottleneck {
  double seconds_per_byte = 0;  ///< of message
  LinkId link = kNone;  ///< an id of the cluster; for links inside nodes that of the first node of its kind
};

/// Why traffic is where it is: what efficiency a protocol reaches depends on it.
enum class Leg : std::uint8_t { inside, between };

/// Efficiencies: of traffic inside a node, of traffic between nodes (both beyond what links and routes lose
/// by themselves), and the most bytes per second that traffic between nodes gets out of a NIC, however fast
/// its link is.
struct TrafficEfficiency {
  double inside = 1, between = 1;
  ByteRate most_between{};  ///< 0: no limit
};

/// Bytes per byte of message over one link.
struct LinkLoad {
  double inside = 0, between = 0;
  double between_plain = 0;  ///< without what the routes lose
  void add_between(double share, double efficiency);
  auto operator<=>(const LinkLoad&) const = default;
};

/// Links of one rate that carry the same.
struct AlikeLinks {
  double rate = 0;  ///< bytes per second
  bool at_nic = false;
  LinkLoad load;
  LinkId first = kNone;  ///< the lowest number
};

/// Of equally slow links the one with the lowest number.
Bottleneck slowest_of(const std::vector<AlikeLinks>& links, const TrafficEfficiency& efficiency, Leg leg);

/// Loads by link. Nodes are in classes (the NodeShapes of a job): all nodes of a class carry the same
/// traffic, which is counted once (folding); the links of the fabric are counted one by one, those that carry
/// something.
class LinkLoads {
 public:
  /// `class_of` by node of the cluster.
  LinkLoads(const Cluster& cluster, std::vector<int> class_of);

  /// A route of node 0 (route_in_node), `share` bytes per byte of message, in every node of a class.
  void add_inside(int node_class, const Route& route, double share);
  /// A way between two nodes. Links in a node that is not the first of its class are left out, since that one
  /// stands for them.
  void add_between(int from_node, int to_node, const NodeToNodeRoute& way, double share);

  using Efficiency = TrafficEfficiency;
  /// Of the links that carry traffic of this leg, with everything else they carry.
  Bottleneck slowest(const Efficiency& efficiency, Leg leg) const {
    return slowest_of(distinct(), efficiency, leg);
  }
  /// All links that carry something, those alike in one.
  std::vector<AlikeLinks> distinct() const;

  /// Seconds per byte of message that one route between nodes needs if nothing else is on its links: the
  /// slowest route's.
  double isolated_between(const Efficiency& efficiency) const;

  /// Links of the fabric that carry something, but for those between NICs and their switches.
  const std::vector<LinkId>& between_switches() const { return inner_.links(); }
  /// Bytes per byte of message over a link, by its leg; efficiencies of the routes are in them.
  double load(LinkId link, Leg leg) const;

 private:
  using Load = LinkLoad;
  /// Where a link's load is; null: nothing was sent over it.
  const Load* find(LinkId link) const;
  Load& in_fabric(LinkId link);
  void add_leg(int node, const NicLeg& leg, double share, double efficiency);
  Load& at_node(int node_class, LinkId link) {
    return of_nodes_[static_cast<std::size_t>(node_class) * links_per_node_ + link];
  }
  /// Of a link between a NIC and its switch, from the first on.
  bool is_at_nic(LinkId link) const { return link - first_fabric_link_ < of_nics_.size(); }
  AlikeLinks alike(LinkId link, const Load& load) const;

  const Cluster& cluster_;
  std::vector<int> class_of_;
  std::vector<int> first_of_class_;
  LinkId links_per_node_ = 0, first_fabric_link_ = 0;
  double alone_between_ = 0, alone_between_plain_ = 0;  ///< share / rate of the slowest route
  double largest_share_ = 0;                            ///< of a route between nodes
  std::vector<Load> of_nodes_;                          ///< class by class the links of a node
  std::vector<Load> of_nics_;   ///< between NICs and their switches, up to the last node of the job
  LinkNumbers inner_;           ///< the fabric's other links that carry something
  std::vector<Load> of_inner_;  ///< by number in inner_
};

}  // namespace foretrain
