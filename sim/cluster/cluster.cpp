// Construction of the graph of a cluster, and the routes between its devices.
//
// A node of each type is laid out once and repeated; the fabric's switches and links come after the last
// node. The vertex of a device is node * vertices_per_node_ + its number in the node, and links are numbered
// likewise. A route between nodes is the sender's leg to its NIC, the fabric's links, and the leg from the
// receiver's NIC. Both legs are found once per type of node, so such a route costs only its links in the
// fabric.
#include "sim/cluster/cluster.hpp"

#include <algorithm>
#include <cassert>

#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/routing.hpp"

namespace foretrain {

namespace {

/// Bandwidth of links that fill up the list of a node with fewer links than another kind. No route has them.
constexpr ByteRate kUnused{1e18};

/// Returns the node with the devices of the largest node, so that each device has the same number in every
/// node.
NodeSpec with_capacity_of(NodeSpec node, const NodeSpec& room) {
  node.gpus = room.gpus, node.cpus = room.cpus, node.switches = room.switches;
  node.nvswitches = room.nvswitches, node.nics = room.nics;
  return node;
}

/// Appends unused links until all types have equally many.
void fill_up(std::vector<std::vector<ClusterLink>>& links_of_type) {
  std::size_t most = 0;
  for (const auto& links : links_of_type) most = std::max(most, links.size());
  for (auto& links : links_of_type) links.resize(most, {0, 0, LinkKind::pcie, kUnused, 1, Time::zero()});
}

}  // namespace

Cluster Cluster::build(const ClusterSpec& spec, int nodes) {
  assert(nodes >= 1 && nodes <= spec.nodes);
  Cluster cluster;
  cluster.spec_ = spec;
  cluster.nodes_ = nodes;
  cluster.find_types();
  cluster.add_nodes();
  for (Type& type : cluster.types_) cluster.add_gpudirect(type), cluster.add_nic_legs(type);
  cluster.add_fabric();
  return cluster;
}

/// Finds the types of the nodes in use. Kinds that are the same machine are one type, so a cluster of one
/// type needs no table of types.
void Cluster::find_types() {
  room_ = is_mixed(spec_) ? largest_node(spec_) : spec_.node;
  for (int kind = 0, first = 0; kind < kind_count(spec_) && first < nodes_; ++kind) {
    const int like = first_kind_like(spec_, kind);
    auto known = std::ranges::find(types_, like, &Type::kind);
    if (known == types_.end()) {
      types_.emplace_back().kind = like, types_.back().node = first;
      known = types_.end() - 1;
    }
    first = std::min(nodes_, first + nodes_of_kind(spec_, kind));
    type_of_node_.resize(static_cast<std::size_t>(first), static_cast<int>(known - types_.begin()));
  }
  if (types_.size() == 1) type_of_node_.clear();
}

/// Lays out one node of each type, finds its routes, and repeats vertices and links for every node.
void Cluster::add_nodes() {
  std::vector<std::vector<ClusterLink>> links_of_type;
  std::vector<Vertex> layout;
  for (Type& type : types_) {
    const NodeSpec node = with_capacity_of(node_of_kind(spec_, type.kind), room_);
    NodeGraph graph = node_graph(node);
    NodeRoutes routes = node_routes(graph, peer_reach(node));
    type.routes = std::move(routes.best), type.host_routes = std::move(routes.host);
    type.first_staging = graph.first_staging;
    layout = std::move(graph.vertices);
    links_of_type.push_back(std::move(graph.links));
  }
  fill_up(links_of_type);
  vertices_per_node_ = static_cast<std::uint32_t>(layout.size());
  links_per_node_ = static_cast<std::uint32_t>(links_of_type.front().size());
  vertices_.reserve(layout.size() * static_cast<std::size_t>(nodes_));
  for (int number = 0; number < nodes_; ++number) {
    for (const Vertex& v : layout) vertices_.push_back({v.kind, number, v.index});
  }
  links_ = types_.size() == 1 ? ClusterLinks(std::move(links_of_type.front()), nodes_, vertices_per_node_)
                              : ClusterLinks(links_of_type, type_of_node_, vertices_per_node_);
}

const NodeSpec& Cluster::node_spec(int node) const {
  return node_of_kind(spec_, types_[static_cast<std::size_t>(type_of_node(node))].kind);
}

const LinkType& Cluster::nic_link(int node) const {
  return nic_link_of_kind(spec_, types_[static_cast<std::size_t>(type_of_node(node))].kind);
}

/// Returns where the parts of the fabric begin in the numbering of the cluster.
FabricSite Cluster::fabric_site() const {
  const std::uint32_t count = static_cast<std::uint32_t>(nodes_);
  return {nodes_,
          room_.nics,
          first_of(room_, VertexKind::nic),
          vertices_per_node_,
          count * vertices_per_node_,
          count * links_per_node_,
          &fabric_map_};
}

/// Adds the fabric after all nodes. Kinds with a NIC link of their own then get its type.
void Cluster::add_fabric() {
  fabric_ = find_fabric(spec_.fabric.kind);
  assert(fabric_ != nullptr);
  fabric_->build(spec_.fabric, fabric_site(), {vertices_, links_, fabric_map_});
  for (int kind = 1; kind < kind_count(spec_); ++kind) {
    if (!spec_.more_nodes[static_cast<std::size_t>(kind - 1)].link) continue;
    const int first = first_node_of_kind(spec_, kind);
    links_.replace_at(gpu(first, 0), gpu(std::min(nodes_, first + nodes_of_kind(spec_, kind)), 0),
                      nic_link_of_kind(spec_, kind));
  }
}

std::vector<ByteRate> Cluster::capacities() const {
  std::vector<ByteRate> rates;
  rates.reserve(links_.size());
  for (std::size_t id = 0; id < links_.size(); ++id) rates.push_back(links_[id].bandwidth);
  return rates;
}

VertexId Cluster::gpu(int node, int index) const {
  return static_cast<VertexId>(node) * vertices_per_node_ + static_cast<VertexId>(index);
}

VertexId Cluster::nic(int node, int index) const {
  return gpu(node, 0) + first_of(room_, VertexKind::nic) + static_cast<VertexId>(index);
}

VertexId Cluster::nvswitch(int node) const { return gpu(node, 0) + first_of(room_, VertexKind::nvswitch); }

VertexId Cluster::cpu_of_gpu(int node, int index) const {
  const VertexId first = gpu(node, 0) + first_of(room_, VertexKind::cpu), from = gpu(node, index);
  VertexId nearest = first;
  // The nearest CPU is the one with the fewest links on its route; ties go to the first.
  for (VertexId cpu = first; cpu < first + static_cast<VertexId>(room_.cpus); ++cpu) {
    // A GPU without any link to a CPU keeps the first one.
    const std::size_t hops = route_in_node(from, cpu).links.size();
    const std::size_t fewest = route_in_node(from, nearest).links.size();
    if (hops > 0 && (fewest == 0 || hops < fewest)) nearest = cpu;
  }
  return nearest;
}

int Cluster::nic_distance(int gpu_index, int nic_index, int node) const {
  return route_in_node(gpu(node, gpu_index), nic(node, nic_index)).pcie_hops;
}

const Route& Cluster::route_in_node(VertexId from, VertexId to) const {
  assert(from / vertices_per_node_ == to / vertices_per_node_);
  const std::size_t pair =
      std::size_t{from % vertices_per_node_} * vertices_per_node_ + to % vertices_per_node_;
  return type_at(from).routes[pair];
}

const Route& Cluster::host_route_in_node(VertexId from, VertexId to) const {
  assert(from / vertices_per_node_ == to / vertices_per_node_);
  const std::size_t pair =
      std::size_t{from % vertices_per_node_} * vertices_per_node_ + to % vertices_per_node_;
  return type_at(from).host_routes[pair];
}

Route Cluster::route(VertexId from, VertexId to) const {
  Route route = route_in_node(from, to);
  const LinkId shift = first_link(vertices_[from].node);
  for (LinkId& link : route.links) link += shift;
  return route;
}

Route Cluster::route_between_nodes(VertexId from_gpu, VertexId to_gpu, int rail) const {
  return route_between_nodes(from_gpu, to_gpu, rail, rail);
}

Route Cluster::route_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic,
                                   NodeExit exit) const {
  NodeToNodeRoute way;
  find_route_between_nodes(from_gpu, to_gpu, from_nic, to_nic, way, exit);
  std::vector<LinkId> links;
  links.reserve(way.out->links.size() + way.fabric.size() + way.in->links.size());
  for (const LinkId link : way.out->links) links.push_back(link + first_link(vertices_[from_gpu].node));
  links.insert(links.end(), way.fabric.begin(), way.fabric.end());
  for (const LinkId link : way.in->links) links.push_back(link + first_link(vertices_[to_gpu].node));
  Route route = route_of(std::move(links), way.sum);
  route.collective_efficiency = way.collective_efficiency;
  route.staged = way.out->staged || way.in->staged;
  return route;
}

/// Puts the route together from its three parts. Its efficiency is that of the link or leg that reaches
/// least.
void Cluster::find_route_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic,
                                       NodeToNodeRoute& way, NodeExit exit) const {
  const Vertex &from = vertices_[from_gpu], &to = vertices_[to_gpu];
  way.out = &leg_out(from, type_at(from_gpu), from_nic, exit, way.relayed),
  way.in = &type_at(to_gpu).from_nic[pair_of(to.index, to_nic)];
  way.fabric.clear();
  const int switches =
      from.node == to.node
          ? 0
          : fabric_->route(spec_.fabric, fabric_site(), {from.node, from_nic}, {to.node, to_nic}, way.fabric);
  way.sum = way.out->sum;
  for (const LinkId link : way.fabric) way.sum.add(links_.of_fabric(link));
  way.sum.add(way.in->sum);
  way.sum.latency += spec_.fabric.switch_latency * switches;
  const double reached = std::min(way.out->reached.per_second, way.in->reached.per_second);
  way.collective_efficiency = std::min(way.sum.collective_efficiency, reached / way.sum.bandwidth.per_second);
}

/// Returns the leg from a GPU to a NIC, over a relay if `exit` names one. Only a leg over a relay is written
/// to `relayed`.
const NicLeg& Cluster::leg_out(const Vertex& from, const Type& type, int nic, NodeExit exit,
                               NicLeg& relayed) const {
  const int holder = exit.relay < 0 ? from.index : exit.relay;
  const NicLeg& last = (exit.from_host ? type.from_host : type.to_nic)[pair_of(holder, nic)];
  if (holder == from.index) return last;
  const Route& first = route_in_node(gpu(from.node, from.index), gpu(from.node, holder));
  relayed.links.assign(first.links.begin(), first.links.end());
  relayed.links.insert(relayed.links.end(), last.links.begin(), last.links.end());
  relayed.sum = {};
  for (const LinkId link : first.links) relayed.sum.add(links_[first_link(type.node) + link]);
  relayed.sum.add(last.sum);
  relayed.staged = last.staged;
  relayed.reached = std::min(last.reached, first.bandwidth * first.collective_efficiency);
  return relayed;
}

/// Returns the leg between a GPU and a NIC, in the direction given by `leaves`. If it is not direct, it leads
/// through the memory of the GPU's CPU.
NicLeg Cluster::nic_leg(const Type& type, int gpu_index, int nic_index, bool leaves, bool direct) const {
  NicLeg leg;
  const VertexId device = gpu(type.node, gpu_index), port = nic(type.node, nic_index);
  // The links of a staged leg stand in the order in which a message passes them.
  const auto append = [&](const Route& part) {
    leg.links.insert(leg.links.end(), part.links.begin(), part.links.end());
  };
  if (direct) {
    const Route& route = leaves ? route_in_node(device, port) : route_in_node(port, device);
    append(route);
    leg.reached = route.bandwidth * route.collective_efficiency;
  } else {
    leg.staged = true;
    const VertexId memory = cpu_of_gpu(type.node, gpu_index);
    const LinkId staging = type.first_staging + static_cast<LinkId>(kStagingLinks * gpu_index);
    if (leaves) leg.links = {staging};
    append(leaves ? route_in_node(device, memory) : route_in_node(port, memory));
    append(leaves ? route_in_node(memory, port) : route_in_node(memory, device));
    if (!leaves) leg.links.push_back(staging + 1);
    leg.reached = (leaves ? route_in_node(device, memory) : route_in_node(memory, device)).bandwidth;
  }
  for (const LinkId link : leg.links) leg.sum.add(links_[first_link(type.node) + link]);
  return leg;
}

/// Finds the legs between all GPUs and NICs of a type.
void Cluster::add_nic_legs(Type& type) {
  for (int g = 0; g < room_.gpus; ++g) {
    for (int n = 0; n < room_.nics; ++n) {
      const bool direct = type.gpudirect[pair_of(g, n)];
      type.to_nic.push_back(nic_leg(type, g, n, true, direct));
      type.from_nic.push_back(nic_leg(type, g, n, false, direct));
      type.from_host.push_back(nic_leg(type, g, n, true, false));
    }
  }
}

std::size_t Cluster::pair_of(int gpu_index, int nic_index) const {
  return static_cast<std::size_t>(gpu_index) * static_cast<std::size_t>(room_.nics) +
         static_cast<std::size_t>(nic_index);
}

/// Returns whether the NIC accesses the memory of this GPU without the CPU.
bool Cluster::gpudirect(int gpu_index, int nic_index, int node) const {
  return type_at(gpu(node, 0)).gpudirect[pair_of(gpu_index, nic_index)];
}

/// Finds for all GPUs and NICs of a type whether the NIC is near enough for GPUDirect RDMA.
void Cluster::add_gpudirect(Type& type) {
  const NodeSpec& node = node_of_kind(spec_, type.kind);
  for (int g = 0; g < room_.gpus; ++g) {
    for (int n = 0; n < room_.nics; ++n)
      type.gpudirect.push_back(node.gpudirect && host_path_class(*this, gpu(type.node, g),
                                                                 nic(type.node, n)) <= node.gpudirect_reach);
  }
}

void RouteSum::add(const ClusterLink& link) {
  const double effective = link.bandwidth.per_second * link.collective_efficiency;
  const bool is_pcie = link.kind == LinkKind::pcie || link.kind == LinkKind::socket;
  add({link.latency, link.bandwidth, link.collective_efficiency, effective, link.kind == LinkKind::network,
       link.kind == LinkKind::nvlink, is_pcie ? 1 : 0});
}

/// Adds a part: latencies add up, and the narrowest link sets the rate. The efficiency is that of the link
/// that reaches least.
void RouteSum::add(const RouteSum& part) {
  latency += part.latency;
  if (part.bandwidth.per_second > 0)
    bandwidth = bandwidth.per_second > 0 ? std::min(bandwidth, part.bandwidth) : part.bandwidth;
  if (part.narrowest < narrowest)
    narrowest = part.narrowest, collective_efficiency = part.collective_efficiency;
  crosses_network = crosses_network || part.crosses_network;
  nvlink_only = nvlink_only && part.nvlink_only;
  pcie_hops += part.pcie_hops;
}

}  // namespace foretrain
