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

VertexId Cluster::gpu(int node, int index) const { return static_cast<VertexId>(node) * vertices_per_node_ + static_cast<VertexId>(index); }

VertexId Cluster::nic(int node, int index) const {
  return gpu(node, 0) + first_of(spec_.node, VertexKind::nic) + static_cast<VertexId>(index);
}

VertexId Cluster::cpu_of_gpu(int node, int index) const {
  const VertexId first = gpu(node, 0) + first_of(spec_.node, VertexKind::cpu), from = gpu(node, index);
  VertexId nearest = first;
  for (VertexId cpu = first; cpu < first + static_cast<VertexId>(spec_.node.cpus); ++cpu) {
    const std::size_t hops = route_in_node(from, cpu).links.size();
    const std::size_t fewest = route_in_node(from, nearest).links.size();
    if (hops > 0 && (fewest == 0 || hops < fewest)) nearest = cpu;
  }
  return nearest;
}

int Cluster::nic_distance(int gpu_index, int nic_index) const { return route_in_node(gpu(0, gpu_index), nic(0, nic_index)).pcie_hops; }

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
  const int from_node = vertices_[from_gpu].node, to_node = vertices_[to_gpu].node;
  std::vector<LinkId> links;
  links.reserve(16);
  const Leg out = add_leg(links, from_gpu, nic(from_node, from_nic));
  const int switches = fabric_->route(spec_.fabric, fabric_site(), {from_node, from_nic}, {to_node, to_nic}, links);
  const Leg in = add_leg(links, nic(to_node, to_nic), to_gpu);
  Route route = cluster_route(std::move(links), links_);
  route.latency += spec_.fabric.switch_latency * switches;
  const double reached = std::min(out.reached.per_second, in.reached.per_second);
  route.collective_efficiency = std::min(route.collective_efficiency, reached / route.bandwidth.per_second);
  route.staged = out.staged || in.staged;
  return route;
}

/// Appends the way between a GPU and a NIC, through the memory of the GPU's CPU where it must.
Cluster::Leg Cluster::add_leg(std::vector<LinkId>& links, VertexId from, VertexId to) const {
  const int node = vertices_[from].node;
  const LinkId shift = first_link(node);
  const auto append = [&](const Route& part) {
    for (const LinkId link : part.links) links.push_back(link + shift);
  };
  const Vertex &a = vertices_[from], &b = vertices_[to];
  const bool leaves = a.kind == VertexKind::gpu;
  const int gpu_index = leaves ? a.index : b.index, nic_index = leaves ? b.index : a.index;
  if (gpudirect(gpu_index, nic_index)) {
    const Route& route = route_in_node(from, to);
    append(route);
    return {false, route.bandwidth * route.collective_efficiency};
  }
  const VertexId memory = cpu_of_gpu(node, gpu_index);
  const LinkId staging = first_staging_ + shift + static_cast<LinkId>(kStagingLinks * gpu_index);
  if (leaves) links.insert(links.end(), {staging + 2, staging});
  append(route_in_node(from, memory));
  append(route_in_node(memory, to));
  if (!leaves) links.insert(links.end(), {staging + 1, staging + 2});
  return {true, (leaves ? route_in_node(from, memory) : route_in_node(memory, to)).bandwidth};
}

bool Cluster::gpudirect(int gpu_index, int nic_index) const {
  return gpudirect_[static_cast<std::size_t>(gpu_index) * static_cast<std::size_t>(spec_.node.nics) + static_cast<std::size_t>(nic_index)];
}

void Cluster::add_gpudirect() {
  const NodeSpec& node = spec_.node;
  for (int g = 0; g < node.gpus; ++g) {
    for (int n = 0; n < node.nics; ++n)
      gpudirect_.push_back(node.gpudirect && host_path_class(*this, gpu(0, g), nic(0, n)) <= node.gpudirect_reach);
  }
}

}  // namespace foretrain
