// A cluster as one graph: devices, switches and directed links of the nodes in use, with routes between
// devices.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// A direction of a connection. Its place in ClusterLinks is its LinkId in the network.
struct ClusterLink {
  VertexId from, to;
  LinkKind kind;
  ByteRate bandwidth;
  /// Share of the bandwidth that NCCL's Simple protocol reaches.
  double collective_efficiency;
  Time latency;
};

/// The links of a cluster, with the interface of a vector of ClusterLink: those of node 0, of node 1, …, then
/// those of the fabric. Links of a node are stored once per type of node, and links of the fabric take twelve
/// bytes each. So the graph of 100,000 GPUs fits a cache better than a list would.
class ClusterLinks {
 public:
  ClusterLinks() = default;
  /// Makes `nodes` copies of the links of one node. The vertices of consecutive nodes are `vertices_per_node`
  /// apart.
  ClusterLinks(std::vector<ClusterLink> of_node, int nodes, std::uint32_t vertices_per_node);
  /// Makes the links of nodes of several types; node n has type `type_of_node[n]`. Requires that all types
  /// have equally many links.
  ClusterLinks(const std::vector<std::vector<ClusterLink>>& of_type, std::vector<int> type_of_node,
               std::uint32_t vertices_per_node);

  std::size_t size() const { return in_nodes_ + fabric_.size(); }
  /// Returns a link by value, O(1). Requires id < size().
  ClusterLink operator[](std::size_t id) const;
  /// Returns the properties of a link of the fabric. The ends in it are meaningless.
  const ClusterLink& of_fabric(std::size_t id) const { return types_[fabric_[id - in_nodes_].type]; }
  /// Returns the least bandwidth of any link in bytes/s; infinite when there is no link.
  double slowest() const;
  /// Returns the links of node 0.
  std::span<const ClusterLink> of_first_node() const { return of_type(0); }
  /// Returns the links of a node of the type, numbered as if it were node 0.
  std::span<const ClusterLink> of_type(int type) const {
    return std::span(of_node_).subspan(static_cast<std::size_t>(type) * per_node_, per_node_);
  }

  void reserve_fabric(std::size_t links) { fabric_.reserve(links); }
  /// Appends one direction of `count` parallel network links of a type.
  void add(VertexId from, VertexId to, const LinkType& type, int count);
  /// Turns the links of the fabric at vertices [first, last) into links of another type.
  void replace_at(VertexId first, VertexId last, const LinkType& type);

 private:
  /// A link of the fabric: its ends and the number of its properties.
  struct FabricRow {
    VertexId from, to;
    std::uint32_t type;
  };
  /// Returns the number of the properties in types_, and adds them if they are new.
  std::uint32_t number_of(const ClusterLink& type);

  /// Links of each type of node, one type after the other.
  std::vector<ClusterLink> of_node_;
  /// Type of each node; empty: all are alike.
  std::vector<int> type_of_node_;
  std::size_t per_node_ = 0, in_nodes_ = 0;
  std::uint32_t vertices_per_node_ = 0;
  std::vector<FabricRow> fabric_;
  /// Distinct properties of fabric links; the ends in them are meaningless.
  std::vector<ClusterLink> types_;
};

using VertexId = std::uint32_t;
struct NodeGraph;   // node_layout.hpp
struct Fabric;      // fabrics/catalog.hpp
struct FabricSite;  // fabrics/catalog.hpp

/// Adjacency and distances of the switches of an `explicit` fabric. Empty for other fabrics, whose routes are
/// closed forms.
struct FabricMap {
  struct Edge {
    /// Number of the other switch.
    std::uint32_t to;
    LinkId link;
  };
  /// Indexed by node * nics + nic.
  std::vector<std::uint32_t> switch_of_nic;
  /// First edge by switch, with one more entry at the end.
  std::vector<std::uint32_t> first_edge;
  std::vector<Edge> edges;
  /// Distance in links, by from * switches + to.
  std::vector<std::uint16_t> distance;
};

/// The kinds of device in the graph: those inside a node first, then the switches of the fabric.
enum class VertexKind : std::uint8_t { gpu, cpu, pcie_switch, nvswitch, nic, leaf, spine, core, router };

/// A device of the cluster: its kind, its node, and its number among the devices of that kind in the node.
struct Vertex {
  VertexKind kind;
  /// -1 for switches of the fabric.
  int node = -1;
  /// The number in its name: gpu0, gpu1, …
  int index = 0;
};

/// Sums over the links of a route. Parts of a route add up to the whole, link by link or part by part.
struct RouteSum {
  Time latency{};
  /// Smallest bandwidth on the route; 0: no link so far.
  ByteRate bandwidth{};
  /// Efficiency of the link with the smallest product of bandwidth and efficiency; of equal ones the first.
  double collective_efficiency = 1;
  /// The smallest product in bytes/s.
  double narrowest = std::numeric_limits<double>::infinity();
  bool crosses_network = false, nvlink_only = true;
  /// Number of links of kind pcie or socket.
  int pcie_hops = 0;

  void add(const ClusterLink& link);
  void add(const RouteSum& part);
};

/// The route between a GPU and a NIC of one node, with the links of node 0.
struct NicLeg {
  std::vector<LinkId> links;
  RouteSum sum;
  /// The data pass through the memory of the GPU's CPU.
  bool staged = false;
  /// Rate that collectives reach on it.
  ByteRate reached{};
};

/// The choice of a route by which a message gets to the NIC that it leaves its node by.
struct NodeExit {
  /// The GPU to which it goes over NVLink first and out of whose memory the NIC reads it; -1: none.
  int relay = -1;
  /// The NIC reads host memory, although it could reach the GPU's memory.
  bool from_host = false;
  friend bool operator==(const NodeExit&, const NodeExit&) = default;
};

/// The route between GPUs of two nodes, in three parts. The legs to and from the NICs belong to the cluster;
/// only the links of the fabric, and a leg over a relay, are stored here.
struct NodeToNodeRoute {
  /// Points to `relayed`, or to a leg of the cluster.
  const NicLeg* out = nullptr;
  NicLeg relayed{};
  std::vector<LinkId> fabric;
  const NicLeg* in = nullptr;
  /// Includes the latency of the switches.
  RouteSum sum;
  /// Efficiency of the narrowest link or leg.
  double collective_efficiency = 1;
};

/// The route from one device to another.
struct Route {
  std::vector<LinkId> links;
  /// Sum over links and switches.
  Time latency{};
  /// Smallest bandwidth on the route.
  ByteRate bandwidth{};
  /// Efficiency of the narrowest link.
  double collective_efficiency = 1;
  bool crosses_network = false;
  bool nvlink_only = false;
  /// Through host memory, because the GPUs have no peer access.
  bool staged = false;
  /// Number of links of kind pcie or socket on the route.
  int pcie_hops = 0;
};

/// A fault of a cluster description. `link` indexes NodeSpec::links; -1 when no link is to blame.
struct ClusterFault {
  std::string message, hint;
  int link = -1;
  /// Place of a link that the fabric lists; line 0: none is to blame.
  SourceSpan fabric_link{};
  /// The kind of node to which the link belongs, or which is to blame itself.
  int kind = 0;
};

/// Largest descriptions that the program accepts.
inline constexpr int kMostGpusPerNode = 64, kMostCpusPerNode = 16, kMostSwitchesPerNode = 64,
                     kMostNicsPerNode = 64;
inline constexpr int kMostDimensions = 6;
inline constexpr int kMostNodes = 100'000, kMostClusterGpus = 1'000'000, kMostFabricLinks = 4'000'000;

/// Returns all faults. Examples are a GPU that cannot be reached, zero bandwidth, two links between one pair,
/// unknown device names, no NIC although there are several nodes, missing parameters of the fabric, and more
/// parts than the limits above.
std::vector<ClusterFault> check(const ClusterSpec& spec);

/// Return the faults of one part, for descriptions of which another part could not be read: of the links of a
/// node, of a whole node, and of the fabric.
std::vector<ClusterFault> check_node_links(const NodeSpec& node);
std::vector<ClusterFault> check_node(const NodeSpec& node);
std::vector<ClusterFault> check_network(const ClusterSpec& spec);
/// Returns a fault for each two kinds of node with the same name.
std::vector<ClusterFault> check_kind_names(const ClusterSpec& spec);

/// Returns warnings in sentences about descriptions that are possible, but probably a mistake: NVLinks slower
/// than PCIe.
std::vector<std::string> warnings_about(const ClusterSpec& spec);

/// The graph of the first `nodes` nodes of a description, with routes between its devices.
///
/// Vertices and links of a node are contiguous and laid out alike in every node, so ids are computed by
/// arithmetic. A node with fewer devices or links than another kind has some that no route uses. Routes
/// inside a node are found once per type of node; routes between nodes are put together from two legs and the
/// fabric's links. Immutable after build(), so concurrent reads are safe.
class Cluster {
 public:
  /// Builds the graph. Requires that check(spec) is empty and 1 <= nodes <= spec.nodes.
  static Cluster build(const ClusterSpec& spec, int nodes);

  const ClusterSpec& spec() const { return spec_; }
  int nodes() const { return nodes_; }
  const std::vector<Vertex>& vertices() const { return vertices_; }
  const ClusterLinks& links() const { return links_; }
  /// Returns the bandwidth of each link by LinkId. O(links).
  std::vector<ByteRate> capacities() const;

  /// Return the vertex of a device. Requires node < nodes() and an index below the count in room().
  VertexId gpu(int node, int index) const;
  VertexId nic(int node, int index) const;
  /// Returns the CPU (NUMA domain) nearest to a GPU: the one with the fewest links on the route.
  VertexId cpu_of_gpu(int node, int index) const;
  /// Returns nvswitch0 of the node. Requires that the node has one.
  VertexId nvswitch(int node) const;
  /// Returns the number of PCIe hops on the route from the GPU to a NIC of its node.
  int nic_distance(int gpu_index, int nic_index, int node = 0) const;

  /// Types of node. Nodes of a type are the same machine, even if their kinds have different names
  /// (node_kinds.hpp). Type 0 is that of node 0.
  int type_count() const { return static_cast<int>(types_.size()); }
  int type_of_node(int node) const {
    return type_of_node_.empty() ? 0 : type_of_node_[static_cast<std::size_t>(node)];
  }
  const NodeSpec& node_spec(int node) const;
  /// The type of the links from the NICs of a node to the first switch.
  const LinkType& nic_link(int node) const;
  /// The largest number of each sort of device in any node. Devices have the same numbers in every node.
  const NodeSpec& room() const { return room_; }

  /// Returns the route inside a node: over NVLink if there is a direct or switched path, else over PCIe.
  /// Requires vertices of one node.
  Route route(VertexId from, VertexId to) const;
  /// Returns the route between nodes: GPU, NIC, fabric, NIC, GPU. `rail` is the number of the NIC on both
  /// sides. If the NIC does not reach GPU memory (see gpudirect()), the route leads through the memory of the
  /// GPU's CPU and is staged.
  Route route_between_nodes(VertexId from_gpu, VertexId to_gpu, int rail) const;
  /// Returns the same over any two NICs.
  Route route_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic,
                            NodeExit exit = {}) const;
  /// Does the same for callers that need many routes: it replaces the content of `way` and uses its memory
  /// again. Within one node (pods that meet at its interface) the route turns round before the wire.
  void find_route_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic,
                                NodeToNodeRoute& way, NodeExit exit = {}) const;
  /// Returns whether the NIC reads and writes the GPU's memory: NodeSpec::gpudirect is set, and the NIC is
  /// not farther than gpudirect_reach.
  bool gpudirect(int gpu_index, int nic_index, int node = 0) const;

  /// Returns the same route with the links of a node 0 of the node's type, without a copy. For node k, add
  /// first_link(k) to every link.
  const Route& route_in_node(VertexId from, VertexId to) const;
  /// Returns the route over PCIe switches, CPUs and socket links alone, as if GPUs had peer access.
  const Route& host_route_in_node(VertexId from, VertexId to) const;
  LinkId first_link(int node) const { return static_cast<LinkId>(node) * links_per_node_; }

 private:
  /// The properties that nodes of a type share; links as in a node 0 of it.
  struct Type {
    int kind = 0;
    /// The first node of the type that is in use.
    int node = 0;
    /// Indexed by from * vertices_per_node_ + to.
    std::vector<Route> routes;
    /// The same without NVLink between GPUs and without staging.
    std::vector<Route> host_routes;
    /// Indexed by pair_of(gpu, nic).
    std::vector<bool> gpudirect;
    /// Legs from a GPU to a NIC and back, by pair_of(gpu, nic).
    std::vector<NicLeg> to_nic, from_nic;
    /// Legs to the NIC through host memory, by pair_of(gpu, nic).
    std::vector<NicLeg> from_host;
    /// The same as NodeGraph::first_staging.
    LinkId first_staging = 0;
  };
  void find_types();
  void add_nodes();
  void add_fabric();
  FabricSite fabric_site() const;
  void add_gpudirect(Type& type);
  void add_nic_legs(Type& type);
  NicLeg nic_leg(const Type& type, int gpu_index, int nic_index, bool leaves, bool direct) const;
  const NicLeg& leg_out(const Vertex& from, const Type& type, int nic, NodeExit exit, NicLeg& relayed) const;
  std::size_t pair_of(int gpu_index, int nic_index) const;
  const Type& type_at(VertexId vertex) const {
    return types_.size() == 1 ? types_.front()
                              : types_[static_cast<std::size_t>(
                                    type_of_node(static_cast<int>(vertex / vertices_per_node_)))];
  }

  ClusterSpec spec_;
  int nodes_ = 0;
  std::vector<Vertex> vertices_;
  ClusterLinks links_;
  std::uint32_t vertices_per_node_ = 0;
  std::uint32_t links_per_node_ = 0;
  NodeSpec room_;
  std::vector<Type> types_;
  /// Type of each node; empty: all nodes are alike.
  std::vector<int> type_of_node_;
  FabricMap fabric_map_;
  const Fabric* fabric_ = nullptr;
};

}  // namespace foretrain
