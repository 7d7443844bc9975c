// The lanes of an algorithm say who sends what; the routes say over which links.
//
// Outside of NCCL a collective runs on the CPU: messages start in host memory and take software time on both
// sides, and copies to and from the GPU are extra. At flow level the lanes become tasks of the engine. The
// closed form takes hops and bytes from the algorithm's row in the catalog.
#include "sim/collective/transport_run.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/names.hpp"
#include "sim/collective/chunk_plan.hpp"
#include "sim/collective/lanes.hpp"
#include "sim/collective/transports/libraries.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/network.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

namespace {

/// Returns the sizes of groups of consecutive ranks on one node.
std::vector<int> groups_of(const Placement& placement) {
  std::vector<int> groups;
  for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
    if (rank == 0 || placement.ranks[rank].node != placement.ranks[rank - 1].node) groups.push_back(0);
    ++groups.back();
  }
  return groups;
}

/// Returns whether the algorithm sends to switches that reduce, which only NCCL's kernels use. Four ranks are
/// enough to find out.
bool needs_switches(const Algorithm& algorithm) {
  static constexpr std::array<int, 4> kOrder{0, 1, 2, 3};
  static constexpr std::array<int, 2> kGroups{2, 2};
  return lanes_of(algorithm, {kOrder, 0, 1, kGroups}).switches > 0;
}

/// Returns the algorithm of an operation by name; names that are spelt alike count. Throws InputError for an
/// unknown name.
const Algorithm& algorithm_named(CollectiveOp op, std::string_view family) {
  if (const Algorithm* row = find_algorithm(op, family)) return *row;
  std::vector<std::string> known;
  for (const Algorithm& row : algorithms()) {
    if (row.op == op && !needs_switches(row)) known.emplace_back(name_of(row.family));
  }
  if (const std::string alike = spelt_alike(family, known); !alike.empty()) return *find_algorithm(op, alike);
  throw InputError(fmt::format("unknown algorithm \"{}\" for {}", family.substr(0, 60), name_of(op)),
                   did_you_mean(family, known));
}

/// Throws InputError if the algorithm cannot do the request.
void refuse_what_cannot_run(const Algorithm& algorithm, const AlgorithmRequest& request) {
  if (needs_switches(algorithm))
    throw InputError(
        fmt::format("{} needs switches that reduce, which only NCCL uses", name_of(algorithm.family)),
        "--transport nccl");
  if (const std::string_view reason = algorithm.refuse(request); !reason.empty())
    throw InputError(
        fmt::format("{} cannot do {} here: {}", name_of(algorithm.family), name_of(algorithm.op), reason));
}

/// Returns the lanes. Throws InputError if there are too many to play.
Lanes lanes_to_play(const Algorithm& algorithm, const AlgorithmRequest& request) {
  Lanes lanes = lanes_of(algorithm, request);
  if (lanes.lanes.size() > kMostLanes)
    throw InputError(fmt::format("{} among {} ranks has more than {} lanes", name_of(algorithm.family),
                                 request.ranks(), kMostLanes));
  return lanes;
}

/// The bytes and times of one rank, per byte of size.
struct RankLoad {
  double sent = 0, received = 0;                   ///< bytes
  double sending = 0, receiving = 0, copying = 0;  ///< seconds, one message after the other
  double messages = 0, latencies = 0;              ///< latencies: sum in seconds
};

/// Returns the mean latency over all messages of the ranks that have most.
Time mean_latency(const std::vector<RankLoad>& ranks) {
  double most = 0, messages = 0, latencies = 0;
  for (const RankLoad& rank : ranks) most = std::max(most, rank.messages);
  for (const RankLoad& rank : ranks) {
    if (rank.messages == most) messages += rank.messages, latencies += rank.latencies;
  }
  return seconds(messages > 0 ? latencies / messages : 0);
}

/// Links of connections and processes, numbered after those of the cluster.
class PrivateLinks {
 public:
  PrivateLinks(const Cluster& cluster, const Transport& transport, const TransportPlan& plan,
               std::size_t ranks)
      : capacities(cluster.capacities()), copies_(ranks, kNone), work_(ranks, kNone) {
    stream_rate_ =
        transport.stream_rate.per_second * std::max(1, transport.streams) / transport.wire_efficiency;
    if (plan.choice.pieces > 1 && plan.host_seconds_per_byte > 0)
      work_rate_ = 1 / plan.host_seconds_per_byte / transport.wire_efficiency;
  }

  /// Appends to the route the private links that a message to rank `to` crosses.
  void extend(TransportRoute& way, int to) {
    const auto receiver = static_cast<std::size_t>(to);
    if (way.links.empty()) way.links.push_back(own_link(copies_[receiver], way.bandwidth.per_second));
    if (work_rate_ > 0) way.links.push_back(own_link(work_[receiver], work_rate_));
    if (stream_rate_ > 0) way.links.push_back(add(stream_rate_));
  }

  /// Returns the link of a process's software, which takes `busy` plus the time of the wire for each of its
  /// equal messages.
  LinkId add_software(LinkId& link, double bytes, Time busy, ByteRate wire) {
    return own_link(link, bytes / (to_seconds(busy) + bytes / wire.per_second));
  }

  std::vector<ByteRate> capacities;

 private:
  LinkId add(double rate) { return capacities.push_back({rate}), static_cast<LinkId>(capacities.size() - 1); }
  LinkId own_link(LinkId& link, double rate) { return link == kNone ? link = add(rate) : link; }

  std::vector<LinkId> copies_, work_;
  double stream_rate_ = 0, work_rate_ = 0;
};

}  // namespace

TransportRequest::TransportRequest(const Cluster& cluster, const Placement& placement,
                                   const Transport& transport)
    : cluster_(cluster),
      transport_(transport),
      ways_(cluster, placement, find_transport_library(transport.library)->data),
      order_(placement.ranks.size()),
      groups_(groups_of(placement)) {
  std::iota(order_.begin(), order_.end(), 0);
}

TransportChoice TransportRequest::choice_of(CollectiveOp op, Bytes size, std::string_view family) const {
  const int ranks = static_cast<int>(order_.size());
  TransportChoice choice = choose(transport_, op, size, ranks);
  if (ranks < 2 || family.empty() ||
      (choice.runs_as == op && choice.family && choice.family == find_family(family)))
    return choice;
  const Algorithm& row = algorithm_named(op, family);
  refuse_what_cannot_run(row, request_of(1));
  // An algorithm is pipelined if twice the pieces make its messages smaller.
  const double whole = costs_of(row, request_of(1)).message, half = costs_of(row, request_of(2)).message;
  const int pieces =
      half < whole ? pieces_of(static_cast<double>(size.count) * whole, transport_.segment, ranks) : 1;
  return {op, row.family, pieces, "asked for"};
}

TransportRun TransportRequest::run(CollectiveOp op, Bytes size, std::string_view family, Fidelity fidelity) {
  TransportRun run;
  run.plan.choice = choice_of(op, size, family);
  const TransportChoice& choice = run.plan.choice;
  if (!choice.family) return run;
  const Algorithm& algorithm = *find_algorithm(choice.runs_as, *choice.family);
  const AlgorithmRequest request = request_of(choice.pieces);
  refuse_what_cannot_run(algorithm, request);
  const Load& load = load_of(algorithm);
  const LaneCosts costs = costs_of(algorithm, request);
  const double bytes = std::max({costs.sent, costs.received, costs.chain}), needed = load.needed(bytes);
  Transport transport = transport_;  // a rank has a connection to every peer that it exchanges with at once
  if (load.at_once) transport.streams *= std::max(1, costs.messages);
  run.bottleneck = needed > load.seconds_per_byte ? load.narrowest_link : load.busiest_link;
  run.plan = plan(transport, TransportChoice(choice), costs, size, load.latency, {bytes / needed});
  run.time = fidelity == Fidelity::analytic ? run.plan.alone
             : fidelity == Fidelity::flow   ? flow_level(algorithm, size, run.plan)
                                            : chunk_level(algorithm, size, run.plan);
  return run;
}

/// Counts the load of an algorithm, once.
const TransportRequest::Load& TransportRequest::load_of(const Algorithm& algorithm) {
  const auto [known, is_new] = loads_.try_emplace(algorithm.name);
  Load& load = known->second;
  if (!is_new) return load;
  const Lanes lanes = lanes_to_play(algorithm, request_of(1));
  // Lanes without needs start all messages at once, and each pair has a limit of its own.
  load.at_once = lanes.needs.empty();
  std::vector<double> shares(cluster_.links().size());
  std::vector<RankLoad> ranks(order_.size());
  ByteRate narrowest{std::numeric_limits<double>::infinity()};
  for (const Lane& lane : lanes.lanes) {
    const TransportRoute way = ways_.way(lane.from, lane.to);
    const double bytes = lane.messages * lanes.message_share(lane), needed = bytes / way.bandwidth.per_second;
    RankLoad &from = ranks[static_cast<std::size_t>(lane.from)],
             &to = ranks[static_cast<std::size_t>(lane.to)];
    from.sent += bytes, to.received += bytes, from.sending += needed, to.receiving += needed;
    if (way.links.empty()) to.copying += needed;
    for (RankLoad* rank : {&from, &to})
      rank->messages += lane.messages, rank->latencies += lane.messages * to_seconds(way.latency);
    if (way.bandwidth < narrowest) narrowest = way.bandwidth, load.narrowest_link = way.narrowest;
    for (const LinkId link : way.links) shares[link] += bytes;
    if (load.at_once && needed > load.unshared) load.unshared = needed, load.unshared_bytes = bytes;
  }
  for (const RankLoad& rank : ranks) {
    load.seconds_per_byte = std::max(load.seconds_per_byte, rank.copying);
    if (load.at_once) continue;
    load.unshared = std::max({load.unshared, rank.sending, rank.receiving});
    load.unshared_bytes = std::max({load.unshared_bytes, rank.sent, rank.received});
  }
  load.latency = mean_latency(ranks);
  for (LinkId link = 0; link < shares.size(); ++link) {
    const double needed = shares[link] / cluster_.links()[link].bandwidth.per_second;
    if (needed > load.seconds_per_byte) load.seconds_per_byte = needed, load.busiest_link = link;
  }
  return load;
}

/// Returns the bytes of all pairs as flows over the cluster's links. Pairs in one memory have none.
std::vector<PatternFlow> TransportRequest::flows_of(const Algorithm& algorithm) const {
  std::vector<PatternFlow> flows;
  for (const PairShare& pair : pair_shares(lanes_to_play(algorithm, request_of(1)))) {
    TransportRoute way = ways_.way(pair.from, pair.to);
    if (!way.links.empty()) flows.push_back({std::move(way.links), pair.share / transport_.wire_efficiency});
  }
  return flows;
}

/// Returns the seconds per byte of size of the busiest link.
double TransportRequest::seconds_per_byte(const std::vector<PatternFlow>& flows) const {
  std::vector<double> bytes(cluster_.links().size());
  double most = 0;
  for (const PatternFlow& flow : flows) {
    for (const LinkId link : flow.route)
      most = std::max(most, (bytes[link] += flow.weight) / cluster_.links()[link].bandwidth.per_second);
  }
  return most;
}

/// Returns the seconds per byte of size of the connection that carries most.
double TransportRequest::connection_seconds_per_byte(const std::vector<PatternFlow>& flows) const {
  if (transport_.stream_rate.per_second <= 0) return 0;
  double most = 0;
  for (const PatternFlow& flow : flows) most = std::max(most, flow.weight * transport_.wire_efficiency);
  return most / (transport_.stream_rate.per_second * std::max(1, transport_.streams));
}

TransportTraffic TransportRequest::traffic(CollectiveOp op, Bytes size) {
  TransportTraffic traffic;
  const TransportRun alone = run(op, size, "", Fidelity::analytic);
  traffic.plan = alone.plan;
  if (!alone.plan.choice.family) return traffic;
  traffic.flows = flows_of(*find_algorithm(alone.plan.choice.runs_as, *alone.plan.choice.family));
  const double links = seconds_per_byte(traffic.flows),
               needed = std::max(links, connection_seconds_per_byte(traffic.flows));
  for (PatternFlow& flow : traffic.flows) flow.weight *= needed / links;
  traffic.before = std::max(Time{}, alone.time - seconds(needed * static_cast<double>(size.count)));
  return traffic;
}

/// Simulates one task: the part of the closed form beyond the data of the busiest link, then the flows.
Time TransportRequest::flow_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan) const {
  PrivateLinks links(cluster_, transport_, plan, order_.size());
  std::vector<PatternFlow> flows;
  const std::vector<PairShare> pairs = pair_shares(lanes_to_play(algorithm, request_of(1)));
  flows.reserve(pairs.size());
  std::vector<double> weights;
  for (const PairShare& pair : pairs) {
    TransportRoute way = ways_.way(pair.from, pair.to);
    links.extend(way, pair.to);
    const double weight = pair.share / transport_.wire_efficiency;
    weights.resize(links.capacities.size());
    for (const LinkId link : way.links) weights[link] += weight;
    flows.push_back({std::move(way.links), weight});
  }
  double busiest = 0;
  for (std::size_t link = 0; link < weights.size(); ++link)
    busiest = std::max(busiest, weights[link] / links.capacities[link].per_second);
  TaskGraph graph;
  Task task;
  task.kind = TaskKind::collective;
  task.queue = graph.add_queue("transport");
  task.duration = std::max(Time{}, plan.alone - seconds(busiest * static_cast<double>(size.count)));
  task.pattern = graph.add_pattern(std::move(flows));
  task.traffic = size;
  const TaskId id = graph.add(task);
  const std::unique_ptr<Network> network = make_max_min_network(std::move(links.capacities));
  return foretrain::run(graph, *network).end_of(id);
}

/// Simulates every message, with the software as a delay of its connection or as a link of its process.
Time TransportRequest::chunk_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan) const {
  const Lanes lanes = lanes_to_play(algorithm, request_of(plan.choice.pieces));
  PrivateLinks links(cluster_, transport_, plan, order_.size());
  const double host =
      plan.choice.pieces > 1 ? 0 : plan.host_seconds_per_byte * static_cast<double>(plan.message.count);
  const Time busy = plan.overhead + seconds(host);
  const double wire_bytes = static_cast<double>(plan.message.count) / transport_.wire_efficiency;
  const bool at_once = lanes.needs.empty() && busy > Time{} && plan.message.count > 0;
  std::vector<LinkId> senders(order_.size(), kNone), receivers(order_.size(), kNone);
  const auto carrier = [&](int from, int to) {
    TransportRoute way = ways_.way(from, to);
    const Time latency = way.latency * (plan.rendezvous ? 3 : 1) + transport_.header / plan.rate;
    const ByteRate wire = way.bandwidth;
    links.extend(way, to);
    if (!at_once)
      return LaneCarrier{std::move(way.links), latency + busy, busy, 1 / transport_.wire_efficiency};
    way.links.push_back(links.add_software(senders[static_cast<std::size_t>(from)], wire_bytes, busy, wire));
    way.links.push_back(links.add_software(receivers[static_cast<std::size_t>(to)], wire_bytes, busy, wire));
    return LaneCarrier{std::move(way.links), latency, {}, 1 / transport_.wire_efficiency};
  };
  TransferGraph graph;
  add_transfers(graph, lanes, static_cast<double>(size.count), carrier);
  const ChunkResult result = simulate_chunks(graph, links.capacities);
  if (!result.problem.empty())
    throw InputError(fmt::format("chunk level: {}", result.problem), "--fidelity flow");
  return result.end;
}

}  // namespace foretrain
