// The model of a communicator.
//
// Two models stand side by side here and must not be confused. NCCL's forecast (nccl/tuning.hpp) only chooses
// algorithm, protocol and channels, because its constants were made for choosing. The time model (timing.hpp)
// says how long the choice takes, on the links that it loads and with the costs of this GPU generation
// (costs.hpp).
//
// A plan is made in four steps. NCCL chooses. The traffic of the chosen graph is laid on the links of the
// cluster, which gives the seconds per byte of the fullest link inside nodes and between nodes. The time
// model adds latencies of steps and the limits of thread blocks and proxies. Where collectives of this very
// cluster were measured, the measured curve replaces the result. The plan keeps both the isolated time of a
// call and its time in the loop of nccl-tests, because a training step sees the first and published tables
// the second.
#include "sim/collective/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/collective/chain_overlap.hpp"
#include "sim/collective/communicator_traffic.hpp"
#include "sim/collective/costs.hpp"
#include "sim/collective/measured_time.hpp"
#include "sim/collective/peer_traffic.hpp"
#include "sim/collective/staging.hpp"

namespace foretrain {

namespace {

/// Bytes that a thread loads at once if all operands begin at a multiple of them. Otherwise it copies element
/// by element, unrolled so that half as many bytes are in flight (reduceCopy in NCCL's common_kernel.h,
/// unverified, from memory). On twelve V100 with six channels, all-gathers then reach 12.2 GB/s a channel
/// where 24 is usual (wohlbier/nccl-tests).
constexpr int kAligned = 16;
constexpr double kUnaligned = 0.5;

constexpr std::string_view kRelayed =
    ", those to other nodes over NVLink to the GPU beside the receiver's rail (PXN)";

/// Returns one node of each type that has ranks.
std::vector<int> nodes_of_types(const Cluster& cluster, const Placement& placement) {
  std::vector<int> nodes;
  if (cluster.type_count() == 1) return {placement.ranks.front().node};
  for (const GpuPlace& rank : placement.ranks) {
    const int type = cluster.type_of_node(rank.node);
    if (std::ranges::none_of(nodes, [&](int node) { return cluster.type_of_node(node) == type; }))
      nodes.push_back(rank.node);
  }
  return nodes;
}

/// Returns the NIC link of the slowest type: between unlike NICs the slower one sets the pace.
const LinkType& slowest_nic_link(const Cluster& cluster, const Placement& placement) {
  const std::vector<int> nodes = nodes_of_types(cluster, placement);
  return cluster.nic_link(*std::ranges::min_element(
      nodes, {}, [&](int node) { return cluster.nic_link(node).bandwidth.per_second; }));
}

/// Returns the costs of the oldest GPUs of the job, because every step of a collective waits for both ends.
CollectiveCosts costs_of_job(const Cluster& cluster, const Placement& placement) {
  if (!is_mixed(cluster.spec())) return costs_of(cluster.spec());
  const std::vector<int> nodes = nodes_of_types(cluster, placement);
  const int oldest = *std::ranges::min_element(
      nodes, {}, [&](int node) { return cluster.node_spec(node).gpu.architecture; });
  return costs_of(as_kind(cluster.spec(), kind_of_node(cluster.spec(), oldest)));
}

}  // namespace

/// The parts of a communicator, and the steps of a plan.
struct Communicator::State {
  State(const Cluster& cluster_, const Placement& placement, const CollectiveSettings& settings_,
        const CollectiveCosts& costs_, nccl::NodeGraphCache& searched)
      : cluster(cluster_),
        settings(settings_),
        costs(costs_),
        job(nccl::inspect(cluster_, placement, settings_.nccl, searched)),
        by_host(job.hosts > 1 ? nccl::inspect_hosts(cluster_, placement, settings_.nccl, searched)
                              : nccl::Job{}),
        traffic(cluster, job, costs, job.hosts > 1 ? &by_host : nullptr),
        network(slowest_nic_link(cluster, placement)),
        is_of_first_kind(nodes_of_types(cluster, placement) == std::vector{placement.ranks.front().node} &&
                         cluster.type_of_node(placement.ranks.front().node) == 0) {}

  int ranks() const { return job.input.job.ranks; }
  bool by_channel() const { return settings.nccl.version < nccl::kWorkInOneBatch; }
  int nodes() const { return job.input.job.nodes; }

  /// Returns the input of time_of() without the choice and the link loads.
  TimingInput timing_input(CollectiveOp op, Bytes size) const {
    TimingInput input;
    input.op = op, input.bytes = static_cast<double>(size.count);
    input.ranks = ranks(), input.nodes = nodes(), input.ranks_per_node = traffic.ranks_per_node();
    input.nvlink = traffic.nvlink(), input.staged = traffic.staged();
    input.proxy_share = traffic.proxy_share();
    input.network = nodes() > 1 ? &network : nullptr;
    input.flows = settings.nccl.version < nccl::kSocketThreads ? std::min(1, network.flows) : network.flows;
    input.by_channel = by_channel();
    input.sockets_of_pods = nodes() > 1 && settings.nccl.isolation == nccl::Isolation::pod;
    input.costs = &costs;
    return input;
  }

  /// Sets the seconds per byte of message of the fullest link inside a node and between nodes; `bytes` is per
  /// edge.
  void take_bottlenecks(TimingInput& input, TrafficKey key, double bytes) const {
    const EdgeBottlenecks& edges = traffic.bottlenecks(key, input.protocol);
    input.inside_seconds_per_byte = bytes * edges.inside.seconds_per_byte;
    input.between_seconds_per_byte = bytes * edges.between.seconds_per_byte;
    input.between_alone = bytes * edges.between_alone;
  }

  /// Applies the common limit of both directions through host memory.
  void share_ways(TimingInput& input, TrafficKey key) const {
    const double one_way = edge_bytes(input.op, key.pattern, ranks()) *
                           traffic.bottlenecks(key, input.protocol).staging.seconds_per_byte;
    const double both = both_ways(input.op, ranks(), cluster.spec().node.gpu.staging_share);
    input.inside_seconds_per_byte = std::max(input.inside_seconds_per_byte, one_way * both);
  }

  Launchers launchers(int processes_per_node) const {
    CollectiveSettings launched = settings;
    launched.processes_per_node = processes_per_node;
    return launchers_of(launched, std::max(1, traffic.ranks_per_machine() / job.hosts));
  }

  /// Returns the launch time of one thread, which launches for its GPUs in sequence. `remote`: peers of each
  /// on other nodes.
  Time launch(bool group, int processes_per_node, int remote = 0, int channels = 1) const {
    Time one = group ? costs.group_launch + remote * costs.peer_enqueue : costs.launch;
    if (by_channel()) one += (channels - 1) * costs.channel_enqueue;
    return one * launchers(processes_per_node).gpus_per_timer;
  }

  /// Returns the part of a chained call that overlaps with its neighbours in the loop. The loop ends when its
  /// last call has gone all the way, once for all iterations. Timers of several threads stop with their own
  /// ranks; their mean is printed.
  Time hidden_in_loop(const CollectivePlan& plan) const {
    if (!is_chain(plan.op) || ranks() < 2) return Time::zero();
    const auto places = chain_places(job, plan.channels, plan.op == CollectiveOp::broadcast);
    const double waits = waiting_hops(places, traffic.ranks_per_node()) / (ranks() - 1);
    const Launchers own = launchers(settings.processes_per_node);
    const int timers = std::max(1, ranks() / own.gpus_per_timer);
    const double seen = (timers + 1) / (2.0 * timers) / std::max(1, settings.iterations);
    const double shown = std::min(1.0, waits + (1 - std::min(1.0, waits)) * seen);
    return seconds(to_seconds(plan.timing.steps + plan.timing.fill) * (1 - shown));
  }

  /// Returns the share of a block's rate with Simple: a part that does not begin at a multiple of 16 bytes is
  /// copied element by element. Lines of LL and LL128 hold 8 and 16 bytes wherever they come from.
  double copied_share(CollectiveOp op, Protocol protocol, Bytes size) const {
    const bool in_parts = op == CollectiveOp::all_gather || op == CollectiveOp::reduce_scatter;
    const bool unaligned = in_parts && (size.count / ranks()) % kAligned != 0;
    return unaligned && protocol == Protocol::simple ? kUnaligned : 1;
  }

  CollectivePlan modelled(CollectiveOp op, Bytes size, bool explain) const {
    return nccl::is_tuned(op) ? tuned(op, size, explain) : between_peers(op, size);
  }

  /// Replaces the modelled time by the measured one. Beyond the measured sizes the ratio at the nearest size
  /// holds.
  void use_measurements(CollectivePlan& plan) const {
    const CalibratedCollective* measured = find_measured(
        cluster.spec().calibration, plan.op, {ranks(), nodes(), traffic.ranks_per_node(), &settings});
    if (measured == nullptr || plan.size.count < 1 || !is_of_first_kind) return;
    const double bytes = static_cast<double>(plan.size.count);
    const double nearest =
        std::clamp(bytes, measured->segments.front().least, measured->segments.back().most);
    double wanted = measured_seconds(*measured, nearest);
    if (nearest != bytes) wanted *= of_model(plan.op, bytes) / of_model(plan.op, nearest);
    const int theirs = processes_of(measured->processes_per_node, traffic.ranks_per_node());
    settle(plan, wanted,
           {launch(!plan.algorithm, theirs, remote_peers(plan.op)),
            theirs == processes_of(settings.processes_per_node, traffic.ranks_per_node())});
  }

  /// Returns the modelled time. Beyond the measured sizes only ratios of it are used, so that the curve has
  /// no jump.
  double of_model(CollectiveOp op, double bytes) const {
    return to_seconds(modelled(op, {static_cast<std::int64_t>(std::llround(bytes))}, false).back_to_back());
  }

  /// Plans an operation with algorithms: NCCL's tables choose, the links and costs give the time.
  CollectivePlan tuned(CollectiveOp op, Bytes size, bool explain) const {
    const nccl::Plan nccl = job.plan(op, size.count);
    CollectivePlan plan;
    plan.op = op, plan.size = size;
    plan.algorithm = nccl.choice.algorithm, plan.protocol = nccl.choice.protocol,
    plan.channels = nccl.run.channels, plan.chunk = nccl.chunk;
    const TrafficKey key = traffic_of(op, plan.algorithm);
    TimingInput input = timing_input(op, size);
    input.algorithm = nccl.choice.algorithm, input.protocol = nccl.choice.protocol;
    input.run = nccl.run, input.chunk = nccl.chunk;
    input.copied = copied_share(op, input.protocol, size);
    if (input.algorithm == nccl::Algorithm::ring) input.relayed = traffic.ring_relay();
    take_bottlenecks(input, key, edge_bytes(op, key.pattern, ranks()));
    if (input.algorithm == nccl::Algorithm::ring) share_ways(input, key);
    finish(plan, input, time_of(input), key);
    plan.launch = launch(false, settings.processes_per_node, 0, plan.channels);
    plan.hidden = hidden_in_loop(plan);
    if (explain) plan.why = job.reason(op, size.count, nccl);
    return plan;
  }

  /// Peers of the rank that has most: of all ranks (alltoall), of the root, or the next rank.
  int peers(CollectiveOp op) const { return op == CollectiveOp::sendrecv ? 1 : ranks() - 1; }
  int remote_peers(CollectiveOp op) const {
    if (nccl::is_tuned(op) || nodes() < 2) return 0;
    return op == CollectiveOp::sendrecv ? 1 : ranks() - traffic.ranks_per_node();
  }

  PeerSend send_of(CollectiveOp op, Bytes size) const {
    PeerSend send;
    send.bytes = static_cast<double>(size.count) * peer_share(op, ranks());
    if (op != CollectiveOp::sendrecv && settings.nccl.version < nccl::kPeerOfEachWarp) send.own = send.bytes;
    send.peers = peers(op), send.remote = remote_peers(op), send.channels = job.p2p_channels;
    const nccl::PeerPath path = send.remote > 0    ? nccl::PeerPath::network
                                : traffic.nvlink() ? nccl::PeerPath::nvlink
                                                   : nccl::PeerPath::pcie;
    send.shape = nccl::peer_shape({settings.nccl.version, ranks(), nodes(), job.p2p_channels,
                                   job.p2p_per_peer, path, settings.nccl.buffer_bytes},
                                  std::llround(send.bytes));
    send.direct = writes_into_peers();
    return send;
  }

  /// Returns whether blocks write into the peers' memory. Ranks of one process know each other's pointers,
  /// but memory of cuMem, the default since 2.19 (NCCL_CUMEM_ENABLE), goes through buffers between them as
  /// well.
  bool writes_into_peers() const {
    return nodes() == 1 && settings.nccl.version < nccl::Version{2, 19, 0} &&
           processes_of(settings.processes_per_node, traffic.ranks_per_node()) == 1;
  }

  /// Plans an operation without algorithms in NCCL: every rank sends to every peer that it has data for.
  CollectivePlan between_peers(CollectiveOp op, Bytes size) const {
    const PeerSend send = send_of(op, size);
    CollectivePlan plan;
    plan.op = op, plan.size = size, plan.send = send;
    plan.channels = job.p2p_channels, plan.protocol = send.shape.protocol;
    const TrafficKey key = traffic_of(op, std::nullopt);
    TimingInput input = timing_input(op, size);
    input.protocol = plan.protocol;
    if (send.remote > 0) input.relayed = traffic.send_relay();
    take_bottlenecks(input, key, 1);
    finish(plan, input, time_of_peers(input, send), key);
    plan.launch = launch(true, settings.processes_per_node, send.remote);
    plan.why = fmt::format("NCCL makes it of sends and receives; {} to each peer in {}{}",
                           to_string(Bytes{std::llround(send.bytes)}), counted(send.shape.parts, "part"),
                           input.relayed > Time::zero() ? kRelayed : "");
    return plan;
  }

  /// Fills in times and bottleneck. `stretch` lengthens the flows so that they last as long as the closed
  /// form says.
  void finish(CollectivePlan& plan, const TimingInput& input, const CollectiveTiming& timing,
              TrafficKey key) const {
    plan.timing = timing;
    plan.latency = timing.latency(), plan.alone = timing.total();
    if (ranks() < 2) return;
    plan.bottleneck = traffic.bottlenecks(key, plan.protocol).worst();
    const EdgeBottlenecks& edges = traffic.bottlenecks(key, plan.protocol);
    const double of_links =
        input.bytes * edge_bytes(plan.op, key.pattern, ranks()) * edges.worst().seconds_per_byte;
    plan.stretch = of_links > 0 ? std::max(1.0, to_seconds(timing.data) / of_links) : 1;
  }

  const Cluster& cluster;
  CollectiveSettings settings;
  CollectiveCosts costs;
  /// `by_host` is used only for NVLink domains of several nodes.
  nccl::Job job, by_host;
  CommunicatorTraffic traffic;
  /// Link from the NICs of the slowest node.
  const LinkType& network;
  bool is_of_first_kind;  ///< measurements hold for this kind
};

Time CollectivePlan::back_to_back() const { return std::max(occupied(), launch); }

std::string_view CollectivePlan::algorithm_name() const {
  return algorithm ? nccl::name_of(*algorithm) : "Peers";
}

Communicator::Communicator(const Cluster& cluster, const Placement& placement,
                           const CollectiveSettings& settings)
    : Communicator(cluster, placement, settings, costs_of_job(cluster, placement)) {}

Communicator::Communicator(const Cluster& cluster, const Placement& placement,
                           const CollectiveSettings& settings, const CollectiveCosts& costs) {
  nccl::NodeGraphCache none;
  state_ = std::make_unique<State>(cluster, placement, settings, costs, none);
}

Communicator::Communicator(const Cluster& cluster, const Placement& placement,
                           const CollectiveSettings& settings, nccl::NodeGraphCache& searched)
    : state_(std::make_unique<State>(cluster, placement, settings, costs_of_job(cluster, placement),
                                     searched)) {}

Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;

CollectivePlan Communicator::plan(CollectiveOp op, Bytes size, bool explain) const {
  if (state_->ranks() < 2) {
    CollectivePlan copy;
    copy.op = op, copy.size = size, copy.algorithm = nccl::Algorithm::ring;
    copy.timing.start = state_->costs.kernel;
    copy.latency = copy.alone = copy.timing.start;
    copy.launch = state_->launch(false, state_->settings.processes_per_node);
    copy.why = "one rank has nothing to exchange";
    return copy;
  }
  CollectivePlan plan = state_->modelled(op, size, explain);
  state_->use_measurements(plan);
  return plan;
}

int Communicator::size() const { return state_->ranks(); }
int Communicator::nodes() const { return state_->nodes(); }
const CollectiveCosts& Communicator::costs() const { return state_->costs; }
const nccl::Job& Communicator::job() const { return state_->job; }
const Cluster& Communicator::cluster() const { return state_->cluster; }
Time Communicator::send_relay() const { return state_->traffic.send_relay(); }
bool Communicator::nvlink() const { return state_->traffic.nvlink(); }

const std::vector<std::vector<SharedPath>>& Communicator::paths(nccl::Pattern pattern) const {
  return state_->traffic.paths(pattern);
}

/// Returns the bytes that occupy a link per byte of data: flags of the protocol, and what its efficiency
/// leaves unused.
double Communicator::wire_bytes(const CollectivePlan& plan, const Route& route) const {
  const LinkLoads::Efficiency reached = state_->traffic.efficiency(plan.protocol, !plan.algorithm);
  if (!route.crosses_network) return 1 / (route.collective_efficiency * reached.inside);
  if (reached.most_between.per_second <= 0) return 1 / (route.collective_efficiency * reached.between);
  return state_->traffic.bottlenecks(traffic_of(plan.op, plan.algorithm), plan.protocol).nic_stretch() /
         reached.between;
}

/// Adds the load that the fullest link carries for other nodes as a flow of its own. Only edges at the first
/// node are flows.
void Communicator::add_rest_of_worst(std::vector<PatternFlow>& flows, const Bottleneck& worst,
                                     double factor) const {
  if (worst.link == kNone) return;
  double rest = worst.seconds_per_byte * state_->cluster.links()[worst.link].bandwidth.per_second * factor;
  for (const PatternFlow& flow : flows) {
    for (const LinkId link : flow.route) rest -= link == worst.link ? flow.weight : 0;
  }
  if (rest > 1e-9 * factor) flows.push_back({{worst.link}, rest});
}

/// Drops links inside other nodes. In an alltoall the first GPU that uses a NIC stands for all GPUs of its
/// node, so its own links do not carry what it stands for.
void Communicator::drop_links_of_others(Route& route, int first) const {
  const Cluster& cluster = state_->cluster;
  std::erase_if(route.links, [&](LinkId link) {
    const bool is_own = link >= cluster.first_link(first) && link < cluster.first_link(first + 1);
    return link < cluster.first_link(cluster.nodes()) && !is_own;
  });
}

std::vector<PatternFlow> Communicator::flows(const CollectivePlan& plan) const {
  return flows(plan, state_->job.nodes.front().node);
}

std::vector<PatternFlow> Communicator::flows(const CollectivePlan& plan, int first) const {
  std::vector<PatternFlow> flows;
  if (size() < 2) return flows;
  const TrafficKey key = traffic_of(plan.op, plan.algorithm);
  const double factor = edge_bytes(plan.op, key.pattern, size()) * plan.stretch;
  state_->traffic.visit(key, [&](const TrafficEdge& edge) {
    if (edge.from.node != first && edge.to.node != first) return;
    Route route = state_->traffic.route(edge);
    if (plan.op == CollectiveOp::alltoall) drop_links_of_others(route, first);
    const double weight = edge.share * factor * wire_bytes(plan, route);
    flows.push_back({std::move(route.links), weight});
  });
  const EdgeBottlenecks& edges = state_->traffic.bottlenecks(key, plan.protocol);
  // A limit of the NIC keeps the links busy in proportion, so that the narrowest link is busy for all of the
  // time.
  const Bottleneck between{edges.between.seconds_per_byte, edges.of_links.link};
  add_rest_of_worst(flows, edges.inside.seconds_per_byte < between.seconds_per_byte ? between : edges.inside,
                    factor);
  return flows;
}

const std::vector<LinkId>& Communicator::links_between_switches(const CollectivePlan& plan) const {
  static const std::vector<LinkId> kNoLinks;
  return size() < 2 ? kNoLinks : state_->traffic.links_between_switches(traffic_of(plan.op, plan.algorithm));
}

}  // namespace foretrain
