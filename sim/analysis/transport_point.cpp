// A ring sends from each node only once at a time; every other algorithm may have all ranks of a node at the NIC.
#include "sim/analysis/transport_point.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

bool joins_gpu(const Cluster& cluster, const ClusterLink& link) {
  return cluster.vertices()[link.from].kind == VertexKind::gpu || cluster.vertices()[link.to].kind == VertexKind::gpu;
}

/// Keeps the slower of two ways.
void take_slower(HostLink& slowest, const HostLink& other) {
  slowest.latency = std::max(slowest.latency, other.latency);
  if (slowest.bandwidth.per_second > 0 && slowest.bandwidth <= other.bandwidth) return;
  slowest.bandwidth = other.bandwidth, slowest.narrowest = other.narrowest, slowest.ranks_sharing = other.ranks_sharing;
}

/// The links of a route that are not the GPUs' own, those of `offset` on in the cluster.
HostLink along(const Cluster& cluster, const Route& route, LinkId offset) {
  HostLink out;
  for (const LinkId id : route.links) {
    const ClusterLink& link = cluster.links()[id + offset];
    if (joins_gpu(cluster, link)) continue;
    out.latency += link.latency;
    if (out.bandwidth.per_second > 0 && out.bandwidth <= link.bandwidth) continue;
    out.bandwidth = link.bandwidth, out.narrowest = id + offset;
  }
  return out;
}

HostLink between(const Cluster& cluster, const GpuPlace& a, const GpuPlace& b) {
  if (a.node != b.node) {
    const int rail = std::max(0, nearest_nic(cluster, a.gpu));
    return along(cluster, cluster.route_between_nodes(cluster.gpu(a.node, a.gpu), cluster.gpu(b.node, b.gpu), rail), 0);
  }
  const VertexId from = cluster.cpu_of_gpu(0, a.gpu), to = cluster.cpu_of_gpu(0, b.gpu);
  if (from == to) return {{}, cluster.spec().node.host.memory_bandwidth, kNone, 1};
  return along(cluster, cluster.host_route_in_node(from, to), cluster.first_link(a.node));
}

}  // namespace

HostLink host_link(const Cluster& cluster, const Placement& placement) {
  HostLink slowest;
  for (std::size_t rank = 1; rank < placement.ranks.size(); ++rank) {
    const GpuPlace &before = placement.ranks[rank - 1], &here = placement.ranks[rank];
    HostLink link = between(cluster, before, here);
    if (before.node != here.node) link.ranks_sharing = static_cast<int>(rank);
    take_slower(slowest, link);
    if (before.node != here.node) break;
  }
  return slowest;
}

CollectivePoint transport_point(const Transport& transport, CollectiveOp op, Bytes size, int ranks, const HostLink& link) {
  CollectivePoint p;
  p.size = size;
  TransportPlan plan = foretrain::plan(transport, op, size, ranks, link.latency, link.bandwidth);
  const bool is_ring = plan.choice.family.find("ring") != std::string_view::npos;
  if (!is_ring && link.ranks_sharing > 1)
    plan = foretrain::plan(transport, op, size, ranks, link.latency, link.bandwidth * (1.0 / link.ranks_sharing));
  p.why = plan.choice.why;
  if (plan.choice.family.empty()) return p;
  p.algorithm = plan.choice.family;
  p.protocol = plan.rendezvous ? "rendezvous" : "eager";
  p.channels = transport.streams;
  p.time = plan.alone;
  p.timing.steps = seconds(plan.hops * to_seconds(plan.latency) + plan.messages * to_seconds(plan.overhead));
  p.timing.data = plan.alone - p.timing.steps;
  const bool host = plan.rate.per_second * plan.host_seconds_per_byte > 1;
  p.bound = p.timing.steps >= p.timing.data ? BoundBy::latency : host ? BoundBy::host : BoundBy::link;
  return p;
}

}  // namespace foretrain
