// A route between hosts is the fabric's part of a route between GPUs, with routes between CPU and NIC at its
// ends.
#include "sim/collective/transport_routes.hpp"

#include <algorithm>

#include "sim/cluster/path_class.hpp"

namespace foretrain {

namespace {

/// Sets bandwidth and number of the narrowest link; of equal ones the first.
void note_narrowest(TransportRoute& way, const Cluster& cluster) {
  for (const LinkId id : way.links) {
    const ByteRate rate = cluster.links()[id].bandwidth;
    if (way.narrowest != kNone && way.bandwidth <= rate) continue;
    way.bandwidth = rate, way.narrowest = id;
  }
}

/// Appends a route inside a node.
void append_leg(TransportRoute& way, const Cluster& cluster, const Route& leg, int node) {
  for (const LinkId link : leg.links) way.links.push_back(link + cluster.first_link(node));
  way.latency += leg.latency;
}

}  // namespace

TransportRoutes::TransportRoutes(const Cluster& cluster, const Placement& placement, DataPlace data)
    : cluster_(cluster), placement_(placement), data_(data) {
  near_.resize(static_cast<std::size_t>(cluster.type_count()));
  for (int node = 0; node < cluster.nodes(); ++node) {
    std::vector<Near>& of_type = near_[static_cast<std::size_t>(cluster.type_of_node(node))];
    if (!of_type.empty()) continue;
    for (int gpu = 0; gpu < cluster.node_spec(node).gpus; ++gpu)
      of_type.push_back({std::max(0, nearest_nic(cluster, gpu, node)),
                         cluster.cpu_of_gpu(node, gpu) - cluster.gpu(node, 0)});
  }
}

const TransportRoutes::Near& TransportRoutes::near(const GpuPlace& place) const {
  return near_[static_cast<std::size_t>(cluster_.type_of_node(place.node))]
              [static_cast<std::size_t>(place.gpu)];
}

TransportRoute TransportRoutes::way(int from, int to) const {
  const GpuPlace &a = placement_.ranks[static_cast<std::size_t>(from)],
                 &b = placement_.ranks[static_cast<std::size_t>(to)];
  if (data_ == DataPlace::host_memory) return between_hosts(a, b);
  const VertexId out = cluster_.gpu(a.node, a.gpu), in = cluster_.gpu(b.node, b.gpu);
  Route route = a.node == b.node ? cluster_.route(out, in)
                                 : cluster_.route_between_nodes(out, in, near(a).nic, near(b).nic);
  TransportRoute way{std::move(route.links), route.latency, {}, kNone};
  note_narrowest(way, cluster_);
  return way;
}

/// Returns the route between the host memories of two ranks.
TransportRoute TransportRoutes::between_hosts(const GpuPlace& from, const GpuPlace& to) const {
  const VertexId a = cluster_.gpu(from.node, 0) + near(from).cpu, b = cluster_.gpu(to.node, 0) + near(to).cpu;
  TransportRoute way;
  if (from.node == to.node) {
    if (a == b) return {{}, {}, cluster_.node_spec(from.node).host.memory_bandwidth, kNone};
    append_leg(way, cluster_, cluster_.host_route_in_node(a, b), from.node);
    return note_narrowest(way, cluster_), way;
  }
  const int out = near(from).nic, in = near(to).nic;
  const Route route =
      cluster_.route_between_nodes(cluster_.gpu(from.node, from.gpu), cluster_.gpu(to.node, to.gpu), out, in);
  append_leg(way, cluster_, cluster_.host_route_in_node(a, cluster_.nic(from.node, out)), from.node);
  Time in_nodes{};
  for (const LinkId id : route.links) {
    const ClusterLink link = cluster_.links()[id];
    if (link.kind == LinkKind::network)
      way.links.push_back(id);
    else
      in_nodes += link.latency;
  }
  // The latency of the switches remains part of the sum.
  way.latency += route.latency - in_nodes;
  append_leg(way, cluster_, cluster_.host_route_in_node(cluster_.nic(to.node, in), b), to.node);
  return note_narrowest(way, cluster_), way;
}

}  // namespace foretrain
