// The bytes that a collective puts on every link, per byte of message. Nodes that do the same share one
// count.
#pragma once

#include <compare>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/engine/link_numbers.hpp"

namespace foretrain {

/// The link that needs longest for its bytes.
struct Bottleneck {
  /// Seconds per byte of message.
  double seconds_per_byte = 0;
  /// Id in the cluster. For links inside nodes it is that of the first node of the class.
  LinkId link = kNone;
};

/// The place of traffic, on which the efficiency of a protocol depends.
enum class Leg : std::uint8_t { inside, between };

/// Efficiencies of traffic inside a node and of traffic between nodes, both beyond the losses of links and
/// routes. The last figure is the highest rate that traffic between nodes reaches on a NIC, however fast its
/// link is.
struct TrafficEfficiency {
  double inside = 1, between = 1;
  /// Limit of a NIC; 0: no limit.
  ByteRate most_between{};
};

/// Bytes per byte of message over one link.
struct LinkLoad {
  double inside = 0, between = 0;
  /// Load between nodes without the losses of the routes.
  double between_plain = 0;
  void add_between(double share, double efficiency);
  auto operator<=>(const LinkLoad&) const = default;
};

/// Links of one rate that carry the same load.
struct AlikeLinks {
  /// Bytes per second.
  double rate = 0;
  bool at_nic = false;
  LinkLoad load;
  /// The lowest number among them.
  LinkId first = kNone;
};

/// Returns the link that is slowest for traffic of the leg, with all its load; of equally slow links the
/// lowest number.
Bottleneck slowest_of(const std::vector<AlikeLinks>& links, const TrafficEfficiency& efficiency, Leg leg);

/// Loads by link. Nodes are in classes (such as the NodeShapes of a job). All nodes of a class carry the same
/// traffic, which is counted once (folding). Links of the fabric are counted one by one, but only those that
/// carry something.
class LinkLoads {
 public:
  /// Makes empty loads. `class_of` has the class of each node of the cluster; -1: not in the job.
  LinkLoads(const Cluster& cluster, std::vector<int> class_of);

  /// Adds `share` bytes per byte of message on a route of node 0 (route_in_node), in every node of a class.
  void add_inside(int node_class, const Route& route, double share);
  /// Adds a route between two nodes. Links in a node that is not the first of its class are left out, because
  /// the first one stands for them.
  void add_between(int from_node, int to_node, const NodeToNodeRoute& way, double share);

  using Efficiency = TrafficEfficiency;
  /// Returns the slowest link that carries traffic of this leg, with everything else that the link carries.
  Bottleneck slowest(const Efficiency& efficiency, Leg leg) const {
    return slowest_of(distinct(), efficiency, leg);
  }
  /// Returns all links that carry something; links with the same rate and load are one entry.
  std::vector<AlikeLinks> distinct() const;

  /// Returns the seconds per byte of message that the slowest route between nodes needs if nothing else is on
  /// its links.
  double isolated_between(const Efficiency& efficiency) const;

  /// Returns the links of the fabric that carry something, without those between NICs and their switches.
  const std::vector<LinkId>& between_switches() const { return inner_.links(); }
  /// Returns the bytes per byte of message over a link in one leg. The efficiencies of the routes are
  /// included.
  double load(LinkId link, Leg leg) const;

 private:
  using Load = LinkLoad;
  /// Returns the load of a link, or nullptr if it has none.
  const Load* find(LinkId link) const;
  Load& in_fabric(LinkId link);
  void add_leg(int node, const NicLeg& leg, double share, double efficiency);
  Load& at_node(int node_class, LinkId link) {
    return of_nodes_[static_cast<std::size_t>(node_class) * links_per_node_ + link];
  }
  /// Returns whether the link is between a NIC and its switch. Those links are the first ones of the fabric.
  bool is_at_nic(LinkId link) const { return link - first_fabric_link_ < of_nics_.size(); }
  AlikeLinks alike(LinkId link, const Load& load) const;

  const Cluster& cluster_;
  std::vector<int> class_of_;
  std::vector<int> first_of_class_;
  LinkId links_per_node_ = 0, first_fabric_link_ = 0;
  /// The largest share / rate of any route, with and without the losses of routes.
  double alone_between_ = 0, alone_between_plain_ = 0;
  /// Largest share of a route between nodes.
  double largest_share_ = 0;
  /// Links of a node, class by class.
  std::vector<Load> of_nodes_;
  /// Links between NICs and their switches, up to the last node of the job.
  std::vector<Load> of_nics_;
  /// Other links of the fabric that carry something.
  LinkNumbers inner_;
  /// Loads by number in inner_.
  std::vector<Load> of_inner_;
};

}  // namespace foretrain
