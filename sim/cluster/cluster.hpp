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

// The links of a cluster, held once per node layout and in twelve bytes each for the fabric, so that 100,000
// GPUs fit a cache better than a list.

/// One direction of a connection. Ids are LinkIds of the network.
struct ClusterLink {
  VertexId from, to;
  LinkKind kind;
  ByteRate bandwidth;
  double collective_efficiency;
  Time latency;
};

/// Reads like a vector of ClusterLink: those of node 0, of node 1, …, then those of the fabric.
class ClusterLinks {
 public:
  ClusterLinks() = default;
  /// `nodes` copies of the links of one node, whose vertices are `vertices_per_node` apart.
  ClusterLinks(std::vector<ClusterLink> of_node, int nodes, std::uint32_t vertices_per_node);
  /// Of nodes of several types, whose numbers of links are the same: that of node n is `type_of_node[n]`.
  ClusterLinks(const std::vector<std::vector<ClusterLink>>& of_type, std::vector<int> type_of_node,
               std::uint32_t vertices_per_node);

  std::size_t size() const { return in_nodes_ + fabric_.size(); }
  ClusterLink operator[](std::size_t id) const;
  /// Of a link of the fabric everything but its ends, which mean nothing here.
  const ClusterLink& of_fabric(std::size_t id) const { return types_[fabric_[id - in_nodes_].type]; }
  /// The least bandwidth of any link; infinite when there is none.
  double slowest() const;
  /// The links of node 0.
  std::span<const ClusterLink> of_first_node() const { return of_type(0); }
  /// Those of a node of the type, numbered as if it were node 0.
  std::span<const ClusterLink> of_type(int type) const {
    return std::span(of_node_).subspan(static_cast<std::size_t>(type) * per_node_, per_node_);
  }

  void reserve_fabric(std::size_t links) { fabric_.reserve(links); }
  /// Appends one direction of `count` parallel network links of a type.
  void add(VertexId from, VertexId to, const LinkType& type, int count);
  /// The links of the fabric at vertices [first, last) become links of a type.
  void replace_at(VertexId first, VertexId last, const LinkType& type);

 private:
  struct FabricRow {
    VertexId from, to;
    std::uint32_t type;
  };
  std::uint32_t number_of(const ClusterLink& type);

  std::vector<ClusterLink> of_node_;  ///< type after type
  std::vector<int> type_of_node_;     ///< empty: all are alike
  std::size_t per_node_ = 0, in_nodes_ = 0;
  std::uint32_t vertices_per_node_ = 0;
  std::vector<FabricRow> fabric_;
  std::vector<ClusterLink> types_;  ///< what the rows have in common; their ends mean nothing
};

using VertexId = std::uint32_t;
struct NodeGraph;   // node_layout.hpp
struct Fabric;      // fabrics/catalog.hpp
struct FabricSite;  // fabrics/catalog.hpp

/// Where the switches of an `explicit` fabric lead; empty for the others, whose routes are closed forms.
struct FabricMap {
  struct Edge {
    std::uint32_t to;  ///< number of the switch
    LinkId link;
  };
  std::vector<std::uint32_t> switch_of_nic;  ///< by node * nics + nic
  std::vector<std::uint32_t> first_edge;     ///< by switch, one more at the end
  std::vector<Edge> edges;
  std::vector<std::uint16_t> distance;  ///< in links, by from * switches + to
};

/// The kinds of device in the graph of a cluster: those inside a node first, then the switches of the fabric.
enum class VertexKind : std::uint8_t { gpu, cpu, pcie_switch, nvswitch, nic, leaf, spine, core, router };

/// A device of the cluster: its kind, its node, and its number among devices of that kind.
struct Vertex {
  VertexKind kind;
  int node = -1;  ///< -1 for switches of the fabric
  int index = 0;  ///< gpu0, gpu1, …
};

/// What the links of a way come to; ways add up, part by part.
struct RouteSum {
  Time latency{};
  ByteRate bandwidth{};  ///< smallest on the way; 0: no link yet
  /// Of the link with the smallest bandwidth times efficiency, of equal ones the first.
  double collective_efficiency = 1;
  double narrowest = std::numeric_limits<double>::infinity();  ///< that product, bytes per second
  bool crosses_network = false, nvlink_only = true;
  int pcie_hops = 0;  ///< links of kind pcie or socket

  void add(const ClusterLink& link);
  void add(const RouteSum& part);
};

/// The way between a GPU and a NIC of one node, with the links of node 0.
struct NicLeg {
  std::vector<LinkId> links;
  RouteSum sum;
  bool staged = false;  ///< through the memory of the GPU's CPU
  ByteRate reached{};   ///< by collectives
};

/// How a message gets to the NIC by which it leaves its node.
struct NodeExit {
  int relay = -1;  ///< the GPU to which it goes over NVLink first, and out of whose memory the NIC takes it
  bool from_host = false;  ///< out of host memory, although the NIC would reach the GPU's
  friend bool operator==(const NodeExit&, const NodeExit&) = default;
};

/// The way between GPUs of two nodes in three parts; only the links of the fabric, and a leg over a relay,
/// are its own.
struct NodeToNodeRoute {
  const NicLeg* out = nullptr;  ///< `relayed`, or the cluster's
  NicLeg relayed{};
  std::vector<LinkId> fabric;
  const NicLeg* in = nullptr;
  RouteSum sum;                      ///< with the switches' latency
  double collective_efficiency = 1;  ///< of the narrowest link or leg
};

/// The way from one device to another.
struct Route {
  std::vector<LinkId> links;
  Time latency{};                    ///< sum over links and switches
  ByteRate bandwidth{};              ///< smallest on the way
  double collective_efficiency = 1;  ///< of the narrowest link
  bool crosses_network = false;
  bool nvlink_only = false;
  bool staged = false;  ///< through host memory, because the GPUs have no peer access
  int pcie_hops = 0;    ///< links of kind pcie or socket on the way
};

/// What is wrong with a cluster description. `link` indexes NodeSpec::links, -1 when none of them is to
/// blame.
struct ClusterFault {
  std::string message, hint;
  int link = -1;
  SourceSpan fabric_link{};  ///< of a link that the fabric lists; line 0: none is to blame
  int kind = 0;              ///< of node, of which the link is, or that is to blame
};

/// Largest descriptions the program takes.
inline constexpr int kMostGpusPerNode = 64, kMostCpusPerNode = 16, kMostSwitchesPerNode = 64,
                     kMostNicsPerNode = 64;
inline constexpr int kMostDimensions = 6;
inline constexpr int kMostNodes = 100'000, kMostClusterGpus = 1'000'000, kMostFabricLinks = 4'000'000;

/// All faults: unreachable GPU, zero bandwidth, two links that cannot both exist (same pair twice, a device
/// name that does not exist), no NIC for more than one node, fabric parameters missing, more parts than the
/// limits below.
std::vector<ClusterFault> check(const ClusterSpec& spec);

/// The faults of one part, for descriptions of which another part could not be read: of the links of a node,
/// of a whole node, and of the fabric.
std::vector<ClusterFault> check_node_links(const NodeSpec& node);
std::vector<ClusterFault> check_node(const NodeSpec& node);
std::vector<ClusterFault> check_network(const ClusterSpec& spec);
/// Kinds of node that have the same name.
std::vector<ClusterFault> check_kind_names(const ClusterSpec& spec);

/// What is possible and hardly meant, in sentences: NVLinks slower than the PCIe beside them.
std::vector<std::string> warnings_about(const ClusterSpec& spec);

/// The graph of the first `nodes` nodes. Vertices and links of a node are contiguous and laid out alike in
/// every node: one that has fewer devices or links than another kind has some that lead nowhere.
class Cluster {
 public:
  /// Requires check(spec) to be empty and 1 <= nodes <= spec.nodes.
  static Cluster build(const ClusterSpec& spec, int nodes);

  const ClusterSpec& spec() const { return spec_; }
  int nodes() const { return nodes_; }
  const std::vector<Vertex>& vertices() const { return vertices_; }
  const ClusterLinks& links() const { return links_; }
  std::vector<ByteRate> capacities() const;

  VertexId gpu(int node, int index) const;
  VertexId nic(int node, int index) const;
  /// The CPU (NUMA domain) nearest to a GPU.
  VertexId cpu_of_gpu(int node, int index) const;
  /// nvswitch0 of a node that has one.
  VertexId nvswitch(int node) const;
  /// Fewest PCIe hops from the GPU to each NIC of its node.
  int nic_distance(int gpu_index, int nic_index, int node = 0) const;

  // Nodes of a type are the same machine, of whatever kinds (node_kinds.hpp). Type 0 is that of node 0.
  int type_count() const { return static_cast<int>(types_.size()); }
  int type_of_node(int node) const {
    return type_of_node_.empty() ? 0 : type_of_node_[static_cast<std::size_t>(node)];
  }
  const NodeSpec& node_spec(int node) const;
  /// From the NICs of a node to the first switch.
  const LinkType& nic_link(int node) const;
  /// Devices of the node that has most of each sort: numbers of devices are the same in every node.
  const NodeSpec& room() const { return room_; }

  /// Inside a node: NVLink where there is a direct or switched path, else PCIe. Requires vertices of one
  /// node.
  Route route(VertexId from, VertexId to) const;
  /// Between nodes: GPU, NIC, fabric, NIC, GPU. `rail` picks the NIC index on both sides. Where the NIC does
  /// not reach GPU memory (see gpudirect()) the way leads through the memory of the GPU's CPU and the route
  /// is staged.
  Route route_between_nodes(VertexId from_gpu, VertexId to_gpu, int rail) const;
  /// The same over any two NICs.
  Route route_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic,
                            NodeExit exit = {}) const;
  /// The same for one who asks for many: what `way` held is replaced, its memory used again. Within one node
  /// (pods that meet at its interface) the way turns round before the wire.
  void find_route_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic,
                                NodeToNodeRoute& way, NodeExit exit = {}) const;
  /// Whether the NIC reads and writes the GPU's memory: NodeSpec::gpudirect, and not farther than
  /// gpudirect_reach.
  bool gpudirect(int gpu_index, int nic_index, int node = 0) const;

  /// The same route as seen in a node 0 of the node's type; that of node k has first_link(k) added to every
  /// link. No copy.
  const Route& route_in_node(VertexId from, VertexId to) const;
  /// The same over PCIe switches, CPUs and socket links alone, as if GPUs had peer access.
  const Route& host_route_in_node(VertexId from, VertexId to) const;
  LinkId first_link(int node) const { return static_cast<LinkId>(node) * links_per_node_; }

 private:
  /// What nodes of a type have in common; links as in a node 0 of it.
  struct Type {
    int kind = 0;
    int node = 0;                          ///< the first of them in use
    std::vector<Route> routes;             ///< by from * vertices_per_node_ + to
    std::vector<Route> host_routes;        ///< the same without NVLink between GPUs and without staging
    std::vector<bool> gpudirect;           ///< by pair_of(gpu, nic)
    std::vector<NicLeg> to_nic, from_nic;  ///< the same
    std::vector<NicLeg> from_host;         ///< to the NIC by way of host memory, the same
    LinkId first_staging = 0;              ///< NodeGraph::first_staging
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
  std::vector<int> type_of_node_;  ///< empty: all nodes are alike
  FabricMap fabric_map_;
  const Fabric* fabric_ = nullptr;
};

}  // namespace foretrain
