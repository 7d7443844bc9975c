// Link loads of a job. Nodes that do the same are counted once, with one load per class; links of the fabric
// are counted one by one.
#include "sim/collective/communicator_traffic.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "sim/collective/nccl/link_bandwidth.hpp"
#include "sim/collective/peer_traffic.hpp"

namespace foretrain {

namespace {

/// Returns the traffic pattern of an operation and algorithm.
TrafficPattern pattern_of(CollectiveOp op, std::optional<nccl::Algorithm> algorithm) {
  if (!algorithm) return TrafficPattern::peers;
  switch (*algorithm) {
    case nccl::Algorithm::ring:
      if (op == CollectiveOp::broadcast) return TrafficPattern::ring_into_root;
      return op == CollectiveOp::reduce ? TrafficPattern::ring_out_of_root : TrafficPattern::ring;
    case nccl::Algorithm::nvls:
    case nccl::Algorithm::nvls_tree:
      return TrafficPattern::multicast;
    case nccl::Algorithm::collnet_chain:
    case nccl::Algorithm::collnet_direct:
      return TrafficPattern::collnet;
    case nccl::Algorithm::tree:
    case nccl::Algorithm::pat:
      break;
  }
  return TrafficPattern::tree;
}

/// Returns a class for every node: the links of hosts of one NVLink domain carry different loads.
NodeClasses every_node(int nodes) {
  NodeClasses classes{std::vector<int>(static_cast<std::size_t>(nodes)), {}};
  std::iota(classes.of_node.begin(), classes.of_node.end(), 0);
  return classes;
}

/// Returns the efficiency with a NIC limit that never binds.
LinkLoads::Efficiency without_limit(LinkLoads::Efficiency reached) {
  reached.most_between = {std::numeric_limits<double>::max()};
  return reached;
}

}  // namespace

ByteRate low_latency_limit(const CollectiveCosts& costs, const Host& host) {
  // Slowdown of the hosts with a T4 on which the cost was fitted.
  constexpr double kSlowdownOfRows = 2.2;
  const bool known = nccl::is_intel(host.family) || host.family == HostFamily::amd;
  if (!known || host.slowdown <= 0) return costs.low_latency_network;
  return costs.low_latency_network * std::max(1.0, kSlowdownOfRows / host.slowdown);
}

TrafficKey traffic_of(CollectiveOp op, std::optional<nccl::Algorithm> algorithm) {
  const TrafficPattern pattern = pattern_of(op, algorithm);
  return {pattern, pattern == TrafficPattern::peers ? op : CollectiveOp::all_reduce};
}

double edge_bytes(CollectiveOp op, TrafficPattern pattern, int ranks) {
  const double others = static_cast<double>(ranks - 1) / std::max(1, ranks);
  switch (pattern) {
    case TrafficPattern::ring:
      return op == CollectiveOp::all_reduce ? 2 * others : others;
    case TrafficPattern::tree:
    case TrafficPattern::multicast:
    case TrafficPattern::collnet:
      return op == CollectiveOp::all_reduce || is_chain(op) ? 1 : others;
    default:
      return 1;
  }
}

CommunicatorTraffic::CommunicatorTraffic(const Cluster& cluster, const nccl::Job& job,
                                         const CollectiveCosts& costs, const nccl::Job* by_host)
    : cluster_(cluster), job_(job), costs_(costs), by_host_(by_host), nics_(cluster, job) {
  // Equal paths may be merged if all nodes have one shape: path p of one node then continues in path p of the
  // next.
  const bool alike = job_.shapes.size() == 1;
  for (const nccl::NodeShape& shape : job_.shapes) {
    // A ring whose pairs are swapped has the next ring as its partner.
    const bool merged = alike && !job_.swaps_ring_pairs;
    ring_paths_.push_back(share_paths(shape.ring.paths, job_.search_channels, merged));
    tree_paths_.push_back(share_paths(shape.tree.paths, job_.search_channels, alike));
    head_paths_.push_back(share_paths(shape.nvls.paths, shape.nvls.channels, alike));
    ranks_per_node_ = std::max(ranks_per_node_, static_cast<int>(shape.gpus.size()));
  }
  find_kinds_of_edges();
  std::map<int, int> ranks_of;
  for (const nccl::JobNode& node : job_.nodes)
    ranks_per_machine_ = std::max(ranks_per_machine_,
                                  ranks_of[node.node] += static_cast<int>(job_.shape_of(node).gpus.size()));
}

/// Walks over the ring once to find its properties: NVLink, staging, relays, and the largest shares of
/// proxies and NICs.
void CommunicatorTraffic::find_kinds_of_edges() {
  if (job_.input.job.ranks < 2 || job_.hosts > 1) return;
  // These nodes stand for the other nodes of their type.
  const std::set<int> firsts = first_nodes_of_types();
  // Channel shares by GPU of those nodes: `proxies` count sends and receives, `senders` only sends.
  std::map<std::pair<int, int>, double> proxies;
  std::map<std::pair<int, int>, double> senders, nics;
  NodeToNodeRoute way;
  visit_ring({job_, ring_paths_}, IdleEdge::none, 0, [&](const TrafficEdge& edge) {
    if (edge.from_nic < 0) {
      nvlink_ = nvlink_ && inside_route(edge).nvlink_only;
      staged_ = staged_ || inside_route(edge).staged;
      return;
    }
    if (firsts.contains(edge.from.node)) {
      const NodeExit exit = nics_.of_channel(edge.from, edge.from_nic);
      proxies[{edge.from.node, exit.relay < 0 ? edge.from.gpu : exit.relay}] += edge.share;
      senders[{edge.from.node, exit.relay < 0 ? edge.from.gpu : exit.relay}] += edge.share;
      nics[{edge.from.node, edge.from_nic}] += edge.share;
      ring_relays_ = ring_relays_ || exit.relay >= 0;
    }
    if (!firsts.contains(edge.to.node)) return;
    proxies[{edge.to.node, edge.to.gpu}] += edge.share;
    cluster_.find_route_between_nodes(cluster_.gpu(edge.from.node, edge.from.gpu),
                                      cluster_.gpu(edge.to.node, edge.to.gpu), edge.from_nic, edge.to_nic,
                                      way);
    staged_ = staged_ || way.in->staged;
  });
  for (const auto& [gpu, share] : proxies) proxy_share_ = std::max(proxy_share_, share);
  const auto largest = [](const auto& shares) {
    double most = 0;
    for (const auto& [place, share] : shares) most = std::max(most, share);
    return most;
  };
  if (nics.empty()) return;
  nic_share_ = largest(nics);
  threads_per_nic_ = std::max(1.0, nic_share_ / largest(senders));
}

/// Returns the job's first node of each type.
std::set<int> CommunicatorTraffic::first_nodes_of_types() const {
  std::set<int> types, nodes;
  for (const nccl::JobNode& node : job_.nodes) {
    if (types.insert(cluster_.type_of_node(node.node)).second) nodes.insert(node.node);
  }
  return nodes;
}

const Route& CommunicatorTraffic::inside_route(const TrafficEdge& edge) const {
  return cluster_.route_in_node(cluster_.gpu(edge.from.node, edge.from.gpu),
                                cluster_.gpu(edge.from.node, edge.to.gpu));
}

Route CommunicatorTraffic::route(const TrafficEdge& edge) const {
  const VertexId from = cluster_.gpu(edge.from.node, edge.from.gpu),
                 to = cluster_.gpu(edge.to.node, edge.to.gpu);
  return edge.from_nic < 0 ? cluster_.route(from, to)
                           : cluster_.route_between_nodes(from, to, edge.from_nic, edge.to_nic, edge.exit);
}

/// Returns the GPU of rank 0 in its node.
int CommunicatorTraffic::root_gpu() const {
  const nccl::JobNode& first = job_.nodes.front();
  const std::span<const int> ranks = job_.ranks_of(first);
  return job_.shape_of(first).gpus[static_cast<std::size_t>(std::ranges::find(ranks, 0) - ranks.begin())];
}

/// Turns an edge between nodes of a domain into one between hosts: the route leads through the NVLink ports
/// of both GPUs.
TrafficEdge CommunicatorTraffic::between_hosts(TrafficEdge edge) const {
  edge.from = job_.place(edge.from.node, edge.from.gpu), edge.to = job_.place(edge.to.node, edge.to.gpu);
  if (edge.from.node == edge.to.node) {
    edge.from_nic = edge.to_nic = -1;
  } else {
    edge.from_nic = edge.from.gpu % cluster_.spec().node.nics;
    edge.to_nic = edge.to.gpu % cluster_.spec().node.nics;
  }
  return edge;
}

/// Adds the exit of the channel to an edge between nodes.
TrafficEdge CommunicatorTraffic::by_channel(TrafficEdge edge) const {
  if (edge.from_nic >= 0) edge.exit = nics_.of_channel(edge.from, edge.from_nic);
  return edge;
}

void CommunicatorTraffic::visit(TrafficKey key, const EdgeVisitor& visitor) const {
  if (key.pattern == TrafficPattern::peers) return visit_nodes(key, visitor);
  if (job_.hosts == 1) return visit_nodes(key, [&](const TrafficEdge& edge) { visitor(by_channel(edge)); });
  visit_nodes(key, [&](const TrafficEdge& edge) { visitor(between_hosts(edge)); });
}

/// Calls the visitor for the edges of the pattern, with nodes as NCCL counts them.
void CommunicatorTraffic::visit_nodes(TrafficKey key, const EdgeVisitor& visitor) const {
  switch (key.pattern) {
    case TrafficPattern::ring:
      return visit_ring({job_, ring_paths_}, IdleEdge::none, 0, visitor);
    case TrafficPattern::ring_into_root:
      return visit_ring({job_, ring_paths_}, IdleEdge::into_root, root_gpu(), visitor);
    case TrafficPattern::ring_out_of_root:
      return visit_ring({job_, ring_paths_}, IdleEdge::out_of_root, root_gpu(), visitor);
    case TrafficPattern::tree:
    case TrafficPattern::collnet:
      return visit_trees({job_, tree_paths_, job_.input.tree.pattern}, visitor);
    case TrafficPattern::multicast:
      return visit_heads({job_, head_paths_, nccl::Pattern::nvls}, visitor);
    case TrafficPattern::peers:
      return visit_peers({cluster_, by_host_ == nullptr ? job_ : *by_host_, key.op}, visitor);
  }
}

/// Lays all edges of the pattern on the links. An edge inside a node counts for all classes of the node's
/// shape.
LinkLoads CommunicatorTraffic::loads(TrafficKey key) const {
  const NodeClasses classes = classes_of(key);
  std::vector<int> shape_of(static_cast<std::size_t>(cluster_.nodes()));
  for (const nccl::JobNode& node : job_.nodes) shape_of[static_cast<std::size_t>(node.node)] = node.shape;
  LinkLoads loads(cluster_, classes.of_node);
  NodeToNodeRoute way;
  visit(key, [&](const TrafficEdge& edge) {
    const std::size_t node = static_cast<std::size_t>(edge.from.node);
    if (edge.from_nic >= 0) {
      cluster_.find_route_between_nodes(cluster_.gpu(edge.from.node, edge.from.gpu),
                                        cluster_.gpu(edge.to.node, edge.to.gpu), edge.from_nic, edge.to_nic,
                                        way, edge.exit);
      loads.add_between(edge.from.node, edge.to.node, way, edge.share);
    } else if (classes.of_shape.empty()) {
      loads.add_inside(classes.of_node[node], inside_route(edge), edge.share);
    } else {
      for (const int c : classes.of_shape[static_cast<std::size_t>(shape_of[node])])
        loads.add_inside(c, inside_route(edge), edge.share);
    }
  });
  if (key.pattern == TrafficPattern::multicast) add_multicast(loads, classes);
  return loads;
}

/// Returns the classes of nodes that have the same load in this pattern.
NodeClasses CommunicatorTraffic::classes_of(TrafficKey key) const {
  if (job_.hosts > 1) return every_node(cluster_.nodes());
  if (job_.settings.isolation != nccl::Isolation::none) return class_per_node(job_, cluster_.nodes());
  const bool trees = key.pattern == TrafficPattern::tree || key.pattern == TrafficPattern::multicast ||
                     key.pattern == TrafficPattern::collnet;
  if (trees) return classes_by_tree(job_, cluster_.nodes());
  const bool alike = key.pattern != TrafficPattern::peers || key.op == CollectiveOp::alltoall;
  return alike ? classes_by_shape(job_, cluster_.nodes()) : class_per_node(job_, cluster_.nodes());
}

/// Adds the traffic of NVLS: every GPU sends its data to the switch, which sums, and receives the sums; its
/// own share goes there and back once more.
void CommunicatorTraffic::add_multicast(LinkLoads& loads, const NodeClasses& classes) const {
  for (std::size_t shape = 0; shape < job_.shapes.size(); ++shape) {
    const std::vector<int>& gpus = job_.shapes[shape].gpus;
    const int node = std::ranges::find(job_.nodes, static_cast<int>(shape), &nccl::JobNode::shape)->node;
    const VertexId hub = cluster_.nvswitch(node);
    const double share = (1 + 1.0 / static_cast<double>(gpus.size())) /
                         multicast_efficiency(costs_, static_cast<int>(gpus.size()));
    const auto add = [&](int node_class, int gpu) {
      loads.add_inside(node_class, cluster_.route_in_node(cluster_.gpu(node, gpu), hub), share);
      loads.add_inside(node_class, cluster_.route_in_node(hub, cluster_.gpu(node, gpu)), share);
    };
    for (const int gpu : gpus) {
      const GpuPlace host = job_.place(job_.nodes.front().node, gpu);
      if (job_.hosts > 1) add(host.node, host.gpu);
      for (std::size_t c = 0; job_.hosts == 1 && c < classes.of_shape[shape].size(); ++c)
        add(classes.of_shape[shape][c], gpu);
    }
  }
}

/// Returns the highest rate that the threads which serve the ranks' sockets get through a NIC. It is 0 if the
/// wire is slower or does not use TCP. Hops of a pod have a limit of their own.
ByteRate CommunicatorTraffic::socket_limit(bool peers) const {
  const LinkType& link = cluster_.nic_link(job_.nodes.front().node);
  const nccl::Version& version = job_.settings.version;
  const bool helped = link.flow_threads > 0 && version >= nccl::kSocketThreads;
  if (link.flows == 0 || helped || job_.settings.isolation != nccl::Isolation::none || is_one_domain())
    return {};
  double threads = threads_per_nic_;
  if (version < nccl::kOneProxyThread) threads = std::max(1.0, nic_share_ * job_.search_channels);
  if (peers) threads = std::max(1.0, 1.0 * ranks_per_node_ / std::max(1, cluster_.spec().node.nics));
  const ByteRate limit = costs_.socket_rate * threads;
  return limit < link.bandwidth * link.collective_efficiency ? limit : ByteRate{};
}

LinkLoads::Efficiency CommunicatorTraffic::efficiency(Protocol protocol, bool peers) const {
  LinkLoads::Efficiency efficiency{nvlink_                    ? of(costs_.link_efficiency, protocol)
                                   : protocol == Protocol::ll ? 0.5
                                                              : 1,
                                   of(costs_.network_efficiency, protocol),
                                   {}};
  efficiency.most_between = socket_limit(peers);
  if (protocol == Protocol::ll)
    efficiency.most_between = low_latency_limit(costs_, cluster_.node_spec(job_.nodes.front().node).host);
  if (is_one_domain())
    efficiency.between = efficiency.inside, efficiency.most_between = {};
  else if (peers)
    efficiency.between *= costs_.peer_network_efficiency;
  return efficiency;
}

/// Returns the staging links among the links: those of GPUs to themselves.
std::vector<AlikeLinks> CommunicatorTraffic::of_staging(std::vector<AlikeLinks> links) const {
  std::erase_if(links, [&](const AlikeLinks& each) {
    const ClusterLink& link = cluster_.links()[each.first];
    return link.from != link.to;
  });
  return links;
}

/// Computes the limits for all protocols at once, because the loads of a large job need much memory and are
/// dropped after it.
const EdgeBottlenecks& CommunicatorTraffic::bottlenecks(TrafficKey key, Protocol protocol) const {
  const auto known = bottlenecks_.find({key, protocol});
  if (known != bottlenecks_.end()) return known->second;
  const LinkLoads all = loads(key);
  between_switches_.emplace(key, all.between_switches());
  const std::vector<AlikeLinks> links = all.distinct();
  for (const Protocol each : kProtocols) {
    const LinkLoads::Efficiency reached = efficiency(each, key.pattern == TrafficPattern::peers);
    EdgeBottlenecks found{slowest_of(links, reached, Leg::inside),
                          slowest_of(links, reached, Leg::between),
                          all.isolated_between(reached),
                          {}};
    found.of_links = reached.most_between.per_second > 0
                         ? slowest_of(links, without_limit(reached), Leg::between)
                         : found.between;
    found.staging = slowest_of(of_staging(links), reached, Leg::inside);
    if (is_one_domain() && found.inside.seconds_per_byte < found.between.seconds_per_byte)
      found.inside = found.between;
    bottlenecks_.emplace(std::pair{key, each}, found);
  }
  return bottlenecks_.at({key, protocol});
}

const std::vector<LinkId>& CommunicatorTraffic::links_between_switches(TrafficKey key) const {
  bottlenecks(key, Protocol::simple);
  return between_switches_.at(key);
}

const std::vector<std::vector<SharedPath>>& CommunicatorTraffic::paths(nccl::Pattern pattern) const {
  if (pattern == nccl::Pattern::ring) return ring_paths_;
  return pattern == nccl::Pattern::nvls ? head_paths_ : tree_paths_;
}

}  // namespace foretrain
