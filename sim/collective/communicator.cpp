// NCCL's own forecast chooses; the links its channels load and our costs say how long it takes. Loads are counted once per algorithm, when
// first asked for.
#include "sim/collective/communicator.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/cluster/node_layout.hpp"
#include "sim/collective/node_classes.hpp"
#include "sim/collective/peer_traffic.hpp"

namespace foretrain {

namespace {

/// Kinds of traffic that load the same links.
enum class Pattern : std::uint8_t { ring, ring_into_root, ring_out_of_root, tree, multicast, collnet, peers };

struct TrafficKey {
  Pattern pattern = Pattern::ring;
  CollectiveOp op = CollectiveOp::all_reduce;  ///< of peers; otherwise all_reduce
  auto operator<=>(const TrafficKey&) const = default;
};

Pattern pattern_of(CollectiveOp op, std::optional<nccl::Algorithm> algorithm) {
  if (!algorithm) return Pattern::peers;
  switch (*algorithm) {
    case nccl::Algorithm::ring:
      if (op == CollectiveOp::broadcast) return Pattern::ring_into_root;
      return op == CollectiveOp::reduce ? Pattern::ring_out_of_root : Pattern::ring;
    case nccl::Algorithm::nvls:
    case nccl::Algorithm::nvls_tree:
      return Pattern::multicast;
    case nccl::Algorithm::collnet_chain:
    case nccl::Algorithm::collnet_direct:
      return Pattern::collnet;
    case nccl::Algorithm::tree:
    case nccl::Algorithm::pat:
      break;
  }
  return Pattern::tree;
}

bool is_chain(CollectiveOp op) { return op == CollectiveOp::broadcast || op == CollectiveOp::reduce; }

/// Bytes on an edge of the pattern per byte of message.
double edge_bytes(CollectiveOp op, Pattern pattern, int ranks) {
  const double others = static_cast<double>(ranks - 1) / std::max(1, ranks);
  switch (pattern) {
    case Pattern::ring:
      return op == CollectiveOp::all_reduce ? 2 * others : others;
    case Pattern::tree:
    case Pattern::multicast:
    case Pattern::collnet:
      return op == CollectiveOp::all_reduce || is_chain(op) ? 1 : others;
    default:
      return 1;
  }
}

}  // namespace

struct Communicator::State {
  State(const Cluster& cluster_, const Placement& placement, const CollectiveSettings& settings_, const CollectiveCosts& costs_)
      : cluster(cluster_), settings(settings_), costs(costs_), job(nccl::inspect(cluster_, placement, settings_.nccl)) {
    const bool alike = job.shapes.size() == 1;  // path p of one node continues in path p of the next
    for (const nccl::NodeShape& shape : job.shapes) {
      ring_paths.push_back(share_paths(shape.ring.paths, job.search_channels, alike));
      tree_paths.push_back(share_paths(shape.tree.paths, job.search_channels, alike));
      head_paths.push_back(share_paths(shape.nvls.paths, shape.nvls.channels, alike));
      ranks_per_node = std::max(ranks_per_node, static_cast<int>(shape.gpus.size()));
    }
    nvlink = has_nvlink();
  }

  int ranks() const { return job.input.job.ranks; }
  int nodes() const { return job.input.job.nodes; }

  /// Between all neighbours of the rings.
  bool has_nvlink() const {
    bool all = true;
    const auto check = [&](const TrafficEdge& edge) {
      if (edge.from_nic < 0) all = all && inside_route(edge).nvlink_only;
    };
    if (ranks() > 1) visit_ring({job, ring_paths}, IdleEdge::none, 0, check);
    return all;
  }

  const Route& inside_route(const TrafficEdge& edge) const {
    return cluster.route_in_node(cluster.gpu(0, edge.from.gpu), cluster.gpu(0, edge.to.gpu));
  }

  Route route(const TrafficEdge& edge) const {
    const VertexId from = cluster.gpu(edge.from.node, edge.from.gpu), to = cluster.gpu(edge.to.node, edge.to.gpu);
    return edge.from_nic < 0 ? cluster.route(from, to) : cluster.route_between_nodes(from, to, edge.from_nic, edge.to_nic);
  }

  int root_gpu() const {
    const nccl::JobNode& first = job.nodes.front();
    const auto place = std::ranges::find(first.ranks, 0) - first.ranks.begin();
    return job.shapes[static_cast<std::size_t>(first.shape)].gpus[static_cast<std::size_t>(place)];
  }

  void visit(TrafficKey key, const EdgeVisitor& visitor) const {
    switch (key.pattern) {
      case Pattern::ring:
        return visit_ring({job, ring_paths}, IdleEdge::none, 0, visitor);
      case Pattern::ring_into_root:
        return visit_ring({job, ring_paths}, IdleEdge::into_root, root_gpu(), visitor);
      case Pattern::ring_out_of_root:
        return visit_ring({job, ring_paths}, IdleEdge::out_of_root, root_gpu(), visitor);
      case Pattern::tree:
      case Pattern::collnet:
        return visit_trees({job, tree_paths, job.input.tree.pattern}, visitor);
      case Pattern::multicast:
        return visit_heads({job, head_paths, nccl::Pattern::nvls}, visitor);
      case Pattern::peers:
        return visit_peers({cluster, job, key.op}, visitor);
    }
  }

  const LinkLoads& loads(TrafficKey key) const {
    const auto known = known_loads.find(key);
    if (known != known_loads.end()) return known->second;
    const NodeClasses classes = classes_of(key);
    std::vector<int> shape_of(static_cast<std::size_t>(cluster.nodes()));
    for (const nccl::JobNode& node : job.nodes) shape_of[static_cast<std::size_t>(node.node)] = node.shape;
    LinkLoads loads(cluster, classes.of_node);
    visit(key, [&](const TrafficEdge& edge) {
      const std::size_t node = static_cast<std::size_t>(edge.from.node);
      if (edge.from_nic >= 0) {
        loads.add_between(edge.from.node, edge.to.node, route(edge), edge.share);
      } else if (classes.of_shape.empty()) {
        loads.add_inside(classes.of_node[node], inside_route(edge), edge.share);
      } else {
        for (const int c : classes.of_shape[static_cast<std::size_t>(shape_of[node])]) loads.add_inside(c, inside_route(edge), edge.share);
      }
    });
    if (key.pattern == Pattern::multicast) add_multicast(loads, classes);
    return known_loads.emplace(key, std::move(loads)).first->second;
  }

  NodeClasses classes_of(TrafficKey key) const {
    const bool trees = key.pattern == Pattern::tree || key.pattern == Pattern::multicast || key.pattern == Pattern::collnet;
    if (trees) return classes_by_tree(job, cluster.nodes());
    const bool alike = key.pattern != Pattern::peers || key.op == CollectiveOp::alltoall;
    return alike ? classes_by_shape(job, cluster.nodes()) : class_per_node(job, cluster.nodes());
  }

  /// Every GPU sends its data to the switch, which sums, and takes the sums from there; its own share goes there and back once more.
  void add_multicast(LinkLoads& loads, const NodeClasses& classes) const {
    for (std::size_t shape = 0; shape < job.shapes.size(); ++shape) {
      const std::vector<int>& gpus = job.shapes[shape].gpus;
      const VertexId hub = cluster.gpu(0, 0) + first_of(cluster.spec().node, VertexKind::nvswitch);
      const double share = (1 + 1.0 / static_cast<double>(gpus.size())) / costs.multicast_efficiency;
      for (const int c : classes.of_shape[shape]) {
        for (const int gpu : gpus) {
          loads.add_inside(c, cluster.route_in_node(cluster.gpu(0, gpu), hub), share);
          loads.add_inside(c, cluster.route_in_node(hub, cluster.gpu(0, gpu)), share);
        }
      }
    }
  }

  LinkLoads::Efficiency efficiency(Protocol protocol, bool peers) const {
    LinkLoads::Efficiency efficiency{nvlink                     ? of(costs.link_efficiency, protocol)
                                     : protocol == Protocol::ll ? 0.5
                                                                : 1,
                                     of(costs.network_efficiency, protocol),
                                     {}};
    if (protocol == Protocol::ll) efficiency.most_between = costs.low_latency_network;
    if (peers) efficiency.between *= costs.peer_network_efficiency;
    return efficiency;
  }

  /// Per byte of message, inside nodes and between them.
  struct Slowest {
    Bottleneck inside, between;
    double between_alone = 0;
    const Bottleneck& worst() const { return inside.seconds_per_byte < between.seconds_per_byte ? between : inside; }
  };
  const Slowest& slowest(TrafficKey key, Protocol protocol) const {
    const std::pair place{key, protocol};
    const auto known = known_slowest.find(place);
    if (known != known_slowest.end()) return known->second;
    const LinkLoads& all = loads(key);
    const LinkLoads::Efficiency reached = efficiency(protocol, key.pattern == Pattern::peers);
    return known_slowest
        .emplace(place, Slowest{all.slowest(reached, Leg::inside), all.slowest(reached, Leg::between), all.alone_between(reached)})
        .first->second;
  }

  TimingInput timing_input(CollectiveOp op, Bytes size) const {
    TimingInput input;
    input.op = op, input.bytes = static_cast<double>(size.count);
    input.ranks = ranks(), input.nodes = nodes(), input.ranks_per_node = ranks_per_node;
    input.nvlink = nvlink;
    input.network = nodes() > 1 ? &cluster.spec().fabric.link : nullptr;
    input.costs = &costs;
    return input;
  }

  void take_pace(TimingInput& input, TrafficKey key, double bytes) const {
    const Slowest& pace = slowest(key, input.protocol);
    input.inside_seconds_per_byte = bytes * pace.inside.seconds_per_byte;
    input.between_seconds_per_byte = bytes * pace.between.seconds_per_byte;
    input.between_alone = bytes * pace.between_alone;
  }

  Time launch(bool group) const {
    const int processes = settings.processes_per_node > 0 ? settings.processes_per_node : ranks_per_node;
    const int per_process = (ranks_per_node + processes - 1) / processes;
    return (group ? costs.group_launch : costs.launch) * per_process;
  }

  CollectivePlan tuned(CollectiveOp op, Bytes size, bool explain) const {
    const nccl::Plan nccl = job.plan(op, size.count);
    CollectivePlan plan;
    plan.op = op, plan.size = size;
    plan.algorithm = nccl.choice.algorithm, plan.protocol = nccl.choice.protocol, plan.channels = nccl.run.channels,
    plan.chunk = nccl.chunk;
    const TrafficKey key{pattern_of(op, plan.algorithm)};
    TimingInput input = timing_input(op, size);
    input.algorithm = nccl.choice.algorithm, input.protocol = nccl.choice.protocol;
    input.run = nccl.run, input.chunk = nccl.chunk;
    take_pace(input, key, edge_bytes(op, key.pattern, ranks()));
    finish(plan, input, time_of(input), key);
    plan.launch = launch(false);
    if (explain) plan.why = job.reason(op, size.count, nccl);
    return plan;
  }

  CollectivePlan between_peers(CollectiveOp op, Bytes size) const {
    CollectivePlan plan;
    plan.op = op, plan.size = size;
    plan.channels = job.p2p_channels;
    const TrafficKey key{Pattern::peers, op};
    TimingInput input = timing_input(op, size);
    take_pace(input, key, 1);
    const double to_peer = static_cast<double>(size.count) * peer_share(op, ranks());
    finish(plan, input, time_of_peers(input, {job.p2p_per_peer, job.p2p_channels, to_peer}), key);
    plan.launch = launch(true);
    plan.why = "NCCL makes it of sends and receives";
    return plan;
  }

  void finish(CollectivePlan& plan, const TimingInput& input, const CollectiveTiming& timing, TrafficKey key) const {
    plan.timing = timing;
    plan.latency = timing.latency(), plan.alone = timing.total();
    if (ranks() < 2) return;
    plan.bottleneck = slowest(key, plan.protocol).worst();
    const double of_links = input.bytes * std::max(input.inside_seconds_per_byte, input.between_seconds_per_byte);
    plan.stretch = of_links > 0 ? std::max(1.0, to_seconds(timing.data) / of_links) : 1;
  }

  const Cluster& cluster;
  CollectiveSettings settings;
  CollectiveCosts costs;
  nccl::Job job;
  std::vector<std::vector<SharedPath>> ring_paths, tree_paths, head_paths;
  int ranks_per_node = 1;
  bool nvlink = true;
  mutable std::map<TrafficKey, LinkLoads> known_loads;
  mutable std::map<std::pair<TrafficKey, Protocol>, Slowest> known_slowest;
};

Time CollectivePlan::back_to_back() const {
  const Time occupied = is_chain(op) && algorithm ? alone - timing.steps : alone;
  return std::max(occupied, launch);
}

std::string_view CollectivePlan::algorithm_name() const { return algorithm ? nccl::name_of(*algorithm) : "Peers"; }

Communicator::Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings)
    : Communicator(cluster, placement, settings, costs_of(cluster.spec().node.gpu.architecture)) {}

Communicator::Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings,
                           const CollectiveCosts& costs)
    : state_(std::make_unique<State>(cluster, placement, settings, costs)) {}

Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;

CollectivePlan Communicator::plan(CollectiveOp op, Bytes size, bool explain) const {
  if (state_->ranks() < 2) {
    CollectivePlan copy;
    copy.op = op, copy.size = size, copy.algorithm = nccl::Algorithm::ring;
    copy.timing.start = state_->costs.kernel;
    copy.latency = copy.alone = copy.timing.start;
    copy.launch = state_->launch(false);
    copy.why = "one rank has nothing to exchange";
    return copy;
  }
  return nccl::is_tuned(op) ? state_->tuned(op, size, explain) : state_->between_peers(op, size);
}

int Communicator::size() const { return state_->ranks(); }
int Communicator::nodes() const { return state_->nodes(); }
const CollectiveCosts& Communicator::costs() const { return state_->costs; }
const nccl::Job& Communicator::job() const { return state_->job; }
const Cluster& Communicator::cluster() const { return state_->cluster; }
bool Communicator::nvlink() const { return state_->nvlink; }

const std::vector<std::vector<SharedPath>>& Communicator::paths(nccl::Pattern pattern) const {
  if (pattern == nccl::Pattern::ring) return state_->ring_paths;
  return pattern == nccl::Pattern::nvls ? state_->head_paths : state_->tree_paths;
}

double Communicator::wire_bytes(const CollectivePlan& plan, const Route& route) const {
  const LinkLoads::Efficiency reached = state_->efficiency(plan.protocol, !plan.algorithm);
  if (!route.crosses_network) return 1 / (route.collective_efficiency * reached.inside);
  if (reached.most_between.per_second <= 0) return 1 / (route.collective_efficiency * reached.between);
  const double rate = state_->cluster.spec().fabric.link.bandwidth.per_second;
  return rate / std::min(rate * reached.between, reached.most_between.per_second);
}

void Communicator::add_rest_of_worst(std::vector<PatternFlow>& flows, const Bottleneck& worst, double factor) const {
  if (worst.link == kNone) return;
  double rest = worst.seconds_per_byte * state_->cluster.links()[worst.link].bandwidth.per_second * factor;
  for (const PatternFlow& flow : flows) {
    for (const LinkId link : flow.route) rest -= link == worst.link ? flow.weight : 0;
  }
  if (rest > 1e-9 * factor) flows.push_back({{worst.link}, rest});
}

std::vector<PatternFlow> Communicator::flows(const CollectivePlan& plan) const {
  std::vector<PatternFlow> flows;
  if (size() < 2) return flows;
  const TrafficKey key{pattern_of(plan.op, plan.algorithm), nccl::is_tuned(plan.op) ? CollectiveOp::all_reduce : plan.op};
  const double factor = edge_bytes(plan.op, key.pattern, size()) * plan.stretch;
  const int first = state_->job.nodes.front().node;
  state_->visit(key, [&](const TrafficEdge& edge) {
    if (edge.from.node != first && edge.to.node != first) return;
    Route route = state_->route(edge);
    const double weight = edge.share * factor * wire_bytes(plan, route);
    flows.push_back({std::move(route.links), weight});
  });
  add_rest_of_worst(flows, state_->slowest(key, plan.protocol).worst(), factor);
  return flows;
}

}  // namespace foretrain
