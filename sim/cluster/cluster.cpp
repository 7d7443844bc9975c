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
  const NodeGraph node = node_graph(spec.node);
  cluster.node_routes_ = node_routes(node, spec.node.peer_access);
  cluster.add_nodes(node.vertices, node.links);
  cluster.add_fabric();
  return cluster;
}

void Cluster::add_nodes(const std::vector<Vertex>& vertices, const std::vector<ClusterLink>& links) {
  vertices_per_node_ = static_cast<std::uint32_t>(vertices.size());
  links_per_node_ = static_cast<std::uint32_t>(links.size());
  vertices_.reserve(vertices.size() * static_cast<std::size_t>(nodes_));
  links_.reserve((links.size() + 2 * static_cast<std::size_t>(spec_.node.nics)) * static_cast<std::size_t>(nodes_));
  for (int node = 0; node < nodes_; ++node) {
    const VertexId shift = static_cast<VertexId>(node) * vertices_per_node_;
    for (const Vertex& v : vertices) vertices_.push_back({v.kind, node, v.index});
    for (ClusterLink link : links) {
      link.from += shift;
      link.to += shift;
      links_.push_back(link);
    }
  }
}

FabricSite Cluster::fabric_site() const {
  const std::uint32_t count = static_cast<std::uint32_t>(nodes_);
  return {nodes_,
          spec_.node.nics,
          first_of(spec_.node, VertexKind::nic),
          vertices_per_node_,
          count * vertices_per_node_,
          count * links_per_node_};
}

void Cluster::add_fabric() {
  fabric_ = find_fabric(spec_.fabric.kind);
  assert(fabric_ != nullptr);
  fabric_->build(spec_.fabric, fabric_site(), {vertices_, links_});
}

std::vector<ByteRate> Cluster::capacities() const {
  std::vector<ByteRate> rates;
  rates.reserve(links_.size());
  for (const ClusterLink& link : links_) rates.push_back(link.bandwidth);
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

Route Cluster::route(VertexId from, VertexId to) const {
  Route route = route_in_node(from, to);
  const LinkId shift = first_link(vertices_[from].node);
  for (LinkId& link : route.links) link += shift;
  return route;
}

Route Cluster::route_between_nodes(VertexId from_gpu, VertexId to_gpu, int rail) const {
  const int from_node = vertices_[from_gpu].node, to_node = vertices_[to_gpu].node;
  const Route& out = route_in_node(from_gpu, nic(from_node, rail));
  const Route& in = route_in_node(nic(to_node, rail), to_gpu);
  std::vector<LinkId> links;
  links.reserve(out.links.size() + in.links.size() + 4);
  for (const LinkId link : out.links) links.push_back(link + first_link(from_node));
  const int switches = fabric_->route(spec_.fabric, fabric_site(), {from_node, rail}, {to_node, rail}, links);
  for (const LinkId link : in.links) links.push_back(link + first_link(to_node));
  Route route = make_route(std::move(links), links_);
  route.latency += spec_.fabric.switch_latency * switches;
  return route;
}

}  // namespace foretrain
