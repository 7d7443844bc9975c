// Edges are laid once; protocols only scale their bytes. The time alone needs the load of the slowest link, no network.
#include "sim/collective/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

namespace {

/// Data staged in host memory crosses it twice: in and out.
constexpr double kStagedEfficiency = 0.5;

double efficiency_of(const Route& route) { return route.collective_efficiency * (route.staged ? kStagedEfficiency : 1); }

}  // namespace

Communicator::Communicator(const Cluster& cluster, const Placement& placement) : ranks_(placement.size()), nodes_(placement.nodes) {
  if (ranks_ == 1) return;
  const ChannelSet set = find_channels(cluster, placement);
  running_ = set.running;
  ll_cap_ = ll_cap(cluster.spec().node.gpu.architecture, nodes_);
  add_edges(cluster, placement, set);
  find_slowest_link(cluster);
  has_ll128_ = !pcie_inside_ && cluster.spec().node.gpu.architecture >= Architecture::volta;
}

void Communicator::add_edges(const Cluster& cluster, const Placement& placement, const ChannelSet& set) {
  const double share = 1.0 / static_cast<double>(set.channels.size());
  edges_.reserve(set.channels.size() * static_cast<std::size_t>(ranks_));
  for (const Channel& channel : set.channels) {
    for (std::size_t i = 0; i < channel.order.size(); ++i) {
      const GpuPlace& a = placement.ranks[static_cast<std::size_t>(channel.order[i])];
      const GpuPlace& b = placement.ranks[static_cast<std::size_t>(channel.order[(i + 1) % channel.order.size()])];
      const VertexId from = cluster.gpu(a.node, a.gpu), to = cluster.gpu(b.node, b.gpu);
      Route route = a.node == b.node ? cluster.route(from, to) : cluster.route_between_nodes(from, to, channel.rail);
      pcie_inside_ = pcie_inside_ || (a.node == b.node && !route.nvlink_only);
      const double efficiency = efficiency_of(route);
      edges_.push_back({std::move(route.links), share / efficiency});
    }
  }
}

void Communicator::find_slowest_link(const Cluster& cluster) {
  std::vector<double> load(cluster.links().size(), 0);
  for (const Edge& edge : edges_) {
    for (const LinkId link : edge.route) load[link] += edge.share;
  }
  for (LinkId link = 0; link < load.size(); ++link) seconds_per_ring_byte_ = std::max(seconds_per_ring_byte_, load[link] / cluster.links()[link].bandwidth.per_second);
}

/// Bytes on the wire per byte of data; LL is also capped.
double Communicator::wire_factor(Protocol protocol) const {
  const double factor = 1 / cost_of(protocol).data_share;
  if (protocol != Protocol::ll) return factor;
  return std::max(factor, 1 / (seconds_per_ring_byte_ * ll_cap_.per_second));
}

Time Communicator::latency(CollectiveOp op, Protocol protocol) const {
  const ProtocolCost cost = cost_of(protocol);
  const int steps = ring_algorithm(op).traffic(ranks_).steps;
  const int rounds = op == CollectiveOp::all_reduce ? 2 : 1;
  const int between = rounds * (nodes_ - 1);
  return cost.base + (pcie_inside_ ? cost.pcie_step : cost.nvlink_step) * (steps - between) + cost.network_step * between;
}

CollectivePlan Communicator::plan(CollectiveOp op, Bytes size) const {
  if (ranks_ == 1) return {Protocol::simple, Time::zero(), Time::zero(), 1, "one rank"};
  const double ring_bytes = ring_algorithm(op).traffic(ranks_).bytes_per_edge * static_cast<double>(size.count);
  CollectivePlan best;
  best.alone = Time::max();
  best.channels = running_;
  std::string others;
  for (const Protocol protocol : kProtocols) {
    if (protocol == Protocol::ll128 && !has_ll128_) continue;
    const Time steps = latency(op, protocol);
    const Time alone = steps + seconds(ring_bytes * seconds_per_ring_byte_ * wire_factor(protocol));
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", name_of(protocol), to_string(alone));
    if (alone >= best.alone) continue;
    best.protocol = protocol;
    best.latency = steps;
    best.alone = alone;
  }
  best.why = fmt::format("alone on the links: {}{}", others, has_ll128_ ? "" : ", no LL128 without NVLink");
  return best;
}

std::vector<PatternFlow> Communicator::flows(CollectiveOp op, Protocol protocol) const {
  std::vector<PatternFlow> flows;
  const double factor = ring_algorithm(op).traffic(ranks_).bytes_per_edge * wire_factor(protocol);
  for (const Edge& edge : edges_) flows.push_back({edge.route, edge.share * factor});
  return flows;
}

}  // namespace foretrain
