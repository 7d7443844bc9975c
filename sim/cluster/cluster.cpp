// Node 0 is drawn once and repeated; the fabric's switches and links come after the last node.
#include "sim/cluster/cluster.hpp"

#include <algorithm>
#include <cassert>

#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/routing.hpp"

namespace foretrain {

Cluster Cluster::build(const ClusterSpec& spec, int nodes) {
  assert(nodes >= 1 && nodes <= spec.nodes);
  Cluster cluster;
  cluster.spec_ = spec;
  cluster.nodes_ = nodes;
  NodeGraph node = node_graph(spec.node);
  NodeRoutes routes = node_routes(node, peer_reach(spec.node));
  cluster.node_routes_ = std::move(routes.best);
  cluster.host_routes_ = std::move(routes.host);
  cluster.first_staging_ = node.first_staging;
  cluster.add_nodes(std::move(node));
  cluster.add_gpudirect();
  cluster.add_nic_legs();
  cluster.add_fabric();
  return cluster;
}

void Cluster::add_nodes(NodeGraph node) {
  vertices_per_node_ = static_cast<std::uint32_t>(node.vertices.size());
  links_per_node_ = static_cast<std::uint32_t>(node.links.size());
  vertices_.reserve(node.vertices.size() * static_cast<std::size_t>(nodes_));
  for (int number = 0; number < nodes_; ++number) {
    for (const Vertex& v : node.vertices) vertices_.push_back({v.kind, number, v.index});
  }
  links_ = ClusterLinks(std::move(node.links), nodes_, vertices_per_node_);
}

FabricSite Cluster::fabric_site() const {
  const std::uint32_t count = static_cast<std::uint32_t>(nodes_);
  return {nodes_,
          spec_.node.nics,
          first_of(spec_.node, VertexKind::nic),
          vertices_per_node_,
          count * vertices_per_node_,
          count * links_per_node_,
          &fabric_map_};
}

void Cluster::add_fabric() {
  fabric_ = find_fabric(spec_.fabric.kind);
  assert(fabric_ != nullptr);
  fabric_->build(spec_.fabric, fabric_site(), {vertices_, links_, fabric_map_});
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
  return gpu(node, 0) + first_of(spec_.node, VertexKind::nic) + static_cast<VertexId>(index);
}

VertexId Cluster::cpu_of_gpu(int node, int index) const {
  const VertexId first = gpu(node, 0) + first_of(spec_.node, VertexKind::cpu), from = gpu(node, index);
  VertexId nearest = first;
  for (VertexId cpu = first; cpu < first + static_cast<VertexId>(spec_.node.cpus); ++cpu) {
    // A GPU without any link to a CPU keeps the first one.
    const std::size_t hops = route_in_node(from, cpu).links.size();
    const std::size_t fewest = route_in_node(from, nearest).links.size();
    if (hops > 0 && (fewest == 0 || hops < fewest)) nearest = cpu;
  }
  return nearest;
}

int Cluster::nic_distance(int gpu_index, int nic_index) const {
  return route_in_node(gpu(0, gpu_index), nic(0, nic_index)).pcie_hops;
}

const Route& Cluster::route_in_node(VertexId from, VertexId to) const {
  assert(from / vertices_per_node_ == to / vertices_per_node_);
  return node_routes_[std::size_t{from % vertices_per_node_} * vertices_per_node_ + to % vertices_per_node_];
}

const Route& Cluster::host_route_in_node(VertexId from, VertexId to) const {
  assert(from / vertices_per_node_ == to / vertices_per_node_);
  return host_routes_[std::size_t{from % vertices_per_node_} * vertices_per_node_ + to % vertices_per_node_];
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

Route Cluster::route_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic) const {
  WayBetweenNodes way;
  find_way_between_nodes(from_gpu, to_gpu, from_nic, to_nic, way);
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

void Cluster::find_way_between_nodes(VertexId from_gpu, VertexId to_gpu, int from_nic, int to_nic,
                                     WayBetweenNodes& way) const {
  const Vertex &from = vertices_[from_gpu], &to = vertices_[to_gpu];
  way.out = &to_nic_[pair_of(from.index, from_nic)], way.in = &from_nic_[pair_of(to.index, to_nic)];
  way.fabric.clear();
  const int switches =
      fabric_->route(spec_.fabric, fabric_site(), {from.node, from_nic}, {to.node, to_nic}, way.fabric);
  way.sum = way.out->sum;
  for (const LinkId link : way.fabric) way.sum.add(links_.of_fabric(link));
  way.sum.add(way.in->sum);
  way.sum.latency += spec_.fabric.switch_latency * switches;
  const double reached = std::min(way.out->reached.per_second, way.in->reached.per_second);
  way.collective_efficiency = std::min(way.sum.collective_efficiency, reached / way.sum.bandwidth.per_second);
}

/// Through the memory of the GPU's CPU where the NIC does not reach the GPU's.
NicLeg Cluster::nic_leg(int gpu_index, int nic_index, bool leaves) const {
  NicLeg leg;
  const VertexId device = gpu(0, gpu_index), port = nic(0, nic_index);
  // Links of a staged leg stand in the order in which a message passes them.
  const auto append = [&](const Route& part) {
    leg.links.insert(leg.links.end(), part.links.begin(), part.links.end());
  };
  if (gpudirect(gpu_index, nic_index)) {
    const Route& route = leaves ? route_in_node(device, port) : route_in_node(port, device);
    append(route);
    leg.reached = route.bandwidth * route.collective_efficiency;
  } else {
    leg.staged = true;
    const VertexId memory = cpu_of_gpu(0, gpu_index);
    const LinkId staging = first_staging_ + static_cast<LinkId>(kStagingLinks * gpu_index);
    if (leaves) leg.links = {staging};
    append(leaves ? route_in_node(device, memory) : route_in_node(port, memory));
    append(leaves ? route_in_node(memory, port) : route_in_node(memory, device));
    if (!leaves) leg.links.push_back(staging + 1);
    leg.reached = (leaves ? route_in_node(device, memory) : route_in_node(memory, device)).bandwidth;
  }
  for (const LinkId link : leg.links) leg.sum.add(links_.of_first_node()[link]);
  return leg;
}

void Cluster::add_nic_legs() {
  for (int g = 0; g < spec_.node.gpus; ++g) {
    for (int n = 0; n < spec_.node.nics; ++n)
      to_nic_.push_back(nic_leg(g, n, true)), from_nic_.push_back(nic_leg(g, n, false));
  }
}

std::size_t Cluster::pair_of(int gpu_index, int nic_index) const {
  return static_cast<std::size_t>(gpu_index) * static_cast<std::size_t>(spec_.node.nics) +
         static_cast<std::size_t>(nic_index);
}

/// Whether the NIC reads and writes the memory of this GPU by itself.
bool Cluster::gpudirect(int gpu_index, int nic_index) const {
  return gpudirect_[pair_of(gpu_index, nic_index)];
}

void Cluster::add_gpudirect() {
  const NodeSpec& node = spec_.node;
  for (int g = 0; g < node.gpus; ++g) {
    for (int n = 0; n < node.nics; ++n)
      gpudirect_.push_back(node.gpudirect &&
                           host_path_class(*this, gpu(0, g), nic(0, n)) <= node.gpudirect_reach);
  }
}

void WaySum::add(const ClusterLink& link) {
  const double effective = link.bandwidth.per_second * link.collective_efficiency;
  const bool is_pcie = link.kind == LinkKind::pcie || link.kind == LinkKind::socket;
  add({link.latency, link.bandwidth, link.collective_efficiency, effective, link.kind == LinkKind::network,
       link.kind == LinkKind::nvlink, is_pcie ? 1 : 0});
}

/// Latencies add, the narrowest link sets the rate; efficiency is that of the link that reaches least.
void WaySum::add(const WaySum& part) {
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
