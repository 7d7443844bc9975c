// Every channel carries an equal share of the message around its ring. Channels that join the same two ranks over the same route are one
// edge with the sum of their shares, so an NVSwitch node with twelve equal rings has as few flows as one ring.
#include "sim/collective/communicator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

namespace {

bool is_amd(const std::string& cpu) { return cpu.find("EPYC") != std::string::npos || cpu.find("AMD") != std::string::npos; }

bool passes_a_cpu(const Cluster& cluster, const Route& route) {
  return std::ranges::any_of(route.links, [&](LinkId link) {
    const ClusterLink& l = cluster.links()[link];
    return cluster.vertices()[l.from].kind == VertexKind::cpu || cluster.vertices()[l.to].kind == VertexKind::cpu;
  });
}

int count_nodes(const Placement& placement) {
  std::vector<int> nodes;
  for (const GpuPlace& place : placement.ranks) {
    if (nodes.empty() || nodes.back() != place.node) nodes.push_back(place.node);
  }
  std::ranges::sort(nodes);
  return static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

}  // namespace

Communicator::Communicator(const Cluster& cluster, const Placement& placement)
    : ranks_(placement.size()), nodes_(count_nodes(placement)), rings_(find_rings(cluster, placement)) {
  const NodeSpec& node = cluster.spec().node;
  const int search_channels = std::max(1, rings_.running_channels / 2);
  setting_ = {node.gpu.architecture, is_amd(node.host.cpu), nodes_, ranks_ == nodes_, search_channels};
  if (ranks_ < 2) return;
  ll128_ = node.gpu.architecture >= Architecture::volta;
  collect_edges(cluster, placement);
  ll128_ = ll128_ && nvlink_;
  for (const Idle idle : {none, into_root, out_of_root}) slowest_[idle] = slowest_link(cluster, idle);
}

void Communicator::collect_edges(const Cluster& cluster, const Placement& placement) {
  const double share = 1.0 / static_cast<double>(rings_.channels.size());
  std::vector<std::vector<std::size_t>> edges_from(static_cast<std::size_t>(ranks_));
  for (const Channel& channel : rings_.channels) {
    for (std::size_t i = 0; i < channel.order.size(); ++i) {
      const std::size_t from = static_cast<std::size_t>(channel.order[i]);
      const std::size_t to = static_cast<std::size_t>(channel.order[(i + 1) % channel.order.size()]);
      const bool inside = placement.ranks[from].node == placement.ranks[to].node;
      const Edge edge{static_cast<int>(from), static_cast<int>(to), inside ? -1 : channel.rail, share, {}};
      std::vector<std::size_t>& known = edges_from[from];
      const auto same = std::ranges::find_if(known, [&](std::size_t e) { return edges_[e].to == edge.to && edges_[e].rail == edge.rail; });
      if (same != known.end()) {
        edges_[*same].share += share;
        continue;
      }
      known.push_back(edges_.size());
      edges_.push_back(edge);
    }
  }
  for (Edge& edge : edges_) route_edge(cluster, placement, edge);
}

void Communicator::route_edge(const Cluster& cluster, const Placement& placement, Edge& edge) {
  const GpuPlace& a = placement.ranks[static_cast<std::size_t>(edge.from)];
  const GpuPlace& b = placement.ranks[static_cast<std::size_t>(edge.to)];
  const VertexId from = cluster.gpu(a.node, a.gpu), to = cluster.gpu(b.node, b.gpu);
  if (edge.rail < 0) {
    const Route& route = cluster.route_in_node(from, to);
    nvlink_ = nvlink_ && route.nvlink_only;
    edge.share /= route.collective_efficiency;
    edge.route = route.links;
    for (LinkId& link : edge.route) link += cluster.first_link(a.node);
    return;
  }
  Route route = cluster.route_between_nodes(from, to, edge.rail);
  const bool far_nic = passes_a_cpu(cluster, cluster.route_in_node(from, cluster.nic(a.node, edge.rail)));
  ll128_ = ll128_ && !far_nic;
  edge.share /= route.collective_efficiency;
  edge.route = std::move(route.links);
}

Communicator::Idle Communicator::idle_edge(CollectiveOp op) {
  if (op == CollectiveOp::broadcast) return into_root;
  return op == CollectiveOp::reduce ? out_of_root : none;
}

bool Communicator::is_idle(const Edge& edge, Idle idle) { return idle == into_root ? edge.to == 0 : idle == out_of_root && edge.from == 0; }

double Communicator::slowest_link(const Cluster& cluster, Idle idle) const {
  std::vector<double> load(cluster.links().size());
  double slowest = 0;
  for (const Edge& edge : edges_) {
    if (is_idle(edge, idle)) continue;
    for (const LinkId link : edge.route) {
      load[link] += edge.share;
      slowest = std::max(slowest, load[link] / cluster.links()[link].bandwidth.per_second);
    }
  }
  return slowest;
}

/// A limit on the bus bandwidth acts like a lower efficiency on the links.
double Communicator::efficiency(Protocol protocol) const {
  const double of_limit = bus_limit(protocol, setting_).per_second * slowest_[none];
  return std::min(data_efficiency(protocol, setting_), of_limit);
}

double Communicator::seconds_per_byte(CollectiveOp op, Protocol protocol) const {
  return ring_traffic(op, ranks_).bytes_per_edge * slowest_[idle_edge(op)] / efficiency(protocol);
}

Time Communicator::latency(CollectiveOp op, Protocol protocol) const {
  const ProtocolLatency cost = latency_of(protocol);
  const Time inside = std::max(nvlink_ ? cost.nvlink : cost.pcie, post_overhead(protocol, setting_));
  const int steps = ring_traffic(op, ranks_).steps;
  const int between_nodes = (nodes_ - 1) * (op == CollectiveOp::all_reduce ? 2 : 1);
  return cost.base + (steps - between_nodes) * inside + between_nodes * cost.network;
}

CollectivePlan Communicator::plan(CollectiveOp op, Bytes size, Protocol protocol) const {
  if (ranks_ < 2) return {op, protocol, {}, {}, 0, "one rank has nothing to exchange"};
  const Time before = latency(op, protocol);
  const Time data = seconds(seconds_per_byte(op, protocol) * static_cast<double>(size.count));
  return {op, protocol, before, before + data, rings_.running_channels, {}};
}

CollectivePlan Communicator::plan(CollectiveOp op, Bytes size) const {
  CollectivePlan best = plan(op, size, Protocol::simple);
  if (ranks_ < 2) return best;
  for (const Protocol protocol : kProtocols) {
    if (!is_available(protocol)) continue;
    const CollectivePlan candidate = plan(op, size, protocol);
    if (candidate.alone < best.alone) best = candidate;
  }
  best.why = reason(best, size);
  return best;
}

std::string Communicator::reason(const CollectivePlan& best, Bytes size) const {
  std::string why = fmt::format("{} alone", to_string(best.alone));
  for (const Protocol protocol : kProtocols) {
    if (protocol == best.protocol) continue;
    const std::string_view name = name_of(protocol);
    if (is_available(protocol))
      why += fmt::format(", {} {}", name, to_string(plan(best.op, size, protocol).alone));
    else
      why += fmt::format(", {} off ({})", name, nvlink_ ? "a NIC behind a CPU, or a GPU before Volta" : "no NVLink between neighbours");
  }
  return why;
}

std::vector<PatternFlow> Communicator::flows(CollectiveOp op, Protocol protocol) const {
  std::vector<PatternFlow> flows;
  if (ranks_ < 2) return flows;
  const Idle idle = idle_edge(op);
  const double factor = ring_traffic(op, ranks_).bytes_per_edge / efficiency(protocol);
  flows.reserve(edges_.size());
  for (const Edge& edge : edges_) {
    if (!is_idle(edge, idle)) flows.push_back({edge.route, edge.share * factor});
  }
  return flows;
}

}  // namespace foretrain
