// The lanes of an algorithm say who sends what; the ways say over which links.
#include "sim/collective/transport_run.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/names.hpp"
#include "sim/collective/chunk_plan.hpp"
#include "sim/collective/lanes_transfers.hpp"
#include "sim/collective/transports/libraries.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/network.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

namespace {

std::vector<int> groups_of(const Placement& placement) {
  std::vector<int> groups;
  for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
    if (rank == 0 || placement.ranks[rank].node != placement.ranks[rank - 1].node) groups.push_back(0);
    ++groups.back();
  }
  return groups;
}

/// Switches that reduce are reached by NCCL's kernels alone. Any few ranks show whether an algorithm sends to them.
bool needs_switches(const Algorithm& algorithm) {
  static constexpr std::array<int, 4> kOrder{0, 1, 2, 3};
  static constexpr std::array<int, 2> kGroups{2, 2};
  return lanes_of(algorithm, {kOrder, 0, 1, kGroups}).switches > 0;
}

const Algorithm& find_family(CollectiveOp op, std::string_view family) {
  if (const Algorithm* row = find_algorithm(op, family)) return *row;
  std::vector<std::string> known;
  for (const Algorithm& row : algorithms()) {
    if (row.op == op && !needs_switches(row)) known.emplace_back(row.family);
  }
  throw InputError(fmt::format("unknown algorithm \"{}\" for {}", family.substr(0, 60), name_of(op)), did_you_mean(family, known));
}

void refuse_what_cannot_run(const Algorithm& algorithm, const AlgorithmRequest& request) {
  if (needs_switches(algorithm))
    throw InputError(fmt::format("{} needs switches that reduce, which only NCCL uses", algorithm.family), "--transport nccl");
  if (const std::string_view reason = algorithm.refuse(request); !reason.empty())
    throw InputError(fmt::format("{} cannot do {} here: {}", algorithm.family, name_of(algorithm.op), reason));
}

Lanes lanes_to_play(const Algorithm& algorithm, const AlgorithmRequest& request) {
  Lanes lanes = lanes_of(algorithm, request);
  if (lanes.lanes.size() > kMostLanes)
    throw InputError(fmt::format("{} among {} ranks has more than {} lanes", algorithm.family, request.ranks(), kMostLanes));
  return lanes;
}

}  // namespace

TransportJob::TransportJob(const Cluster& cluster, const Placement& placement, const Transport& transport)
    : cluster_(cluster),
      transport_(transport),
      ways_(cluster, placement, find_transport_library(transport.library)->data),
      order_(placement.ranks.size()),
      groups_(groups_of(placement)) {
  std::iota(order_.begin(), order_.end(), 0);
}

TransportChoice TransportJob::choice_of(CollectiveOp op, Bytes size, std::string_view family) const {
  const int ranks = static_cast<int>(order_.size());
  TransportChoice choice = choose(transport_, op, size, ranks);
  if (ranks < 2 || family.empty() || (choice.runs_as == op && choice.family == family)) return choice;
  const Algorithm& row = find_family(op, family);
  refuse_what_cannot_run(row, request_of(1));
  const double whole = costs_of(row, request_of(1)).message, half = costs_of(row, request_of(2)).message;
  const int pieces = half < whole ? pieces_of(static_cast<double>(size.count) * whole, transport_.segment, ranks) : 1;
  return {op, row.family, pieces, "asked for"};
}

TransportRun TransportJob::run(CollectiveOp op, Bytes size, std::string_view family, Fidelity fidelity) {
  TransportRun run;
  run.plan.choice = choice_of(op, size, family);
  const TransportChoice& choice = run.plan.choice;
  if (choice.family.empty()) return run;
  const Algorithm& algorithm = find_family(choice.runs_as, choice.family);
  const AlgorithmRequest request = request_of(choice.pieces);
  refuse_what_cannot_run(algorithm, request);
  const Load& load = load_of(algorithm);
  const LaneCosts costs = costs_of(algorithm, request);
  const double busiest = std::max({costs.sent, costs.received, costs.chain});
  const bool is_shared = load.seconds_per_byte * load.narrowest.per_second > busiest;
  run.bottleneck = is_shared ? load.busiest_link : load.narrowest_link;
  run.plan = plan(transport_, TransportChoice(choice), costs, size, load.latency,
                  is_shared ? ByteRate{busiest / load.seconds_per_byte} : load.narrowest);
  run.time = fidelity == Fidelity::analytic ? run.plan.alone
             : fidelity == Fidelity::flow   ? flow_level(algorithm, size, run.plan, load)
                                            : chunk_level(algorithm, size, run.plan);
  return run;
}

const TransportJob::Load& TransportJob::load_of(const Algorithm& algorithm) {
  const auto [known, is_new] = loads_.try_emplace(algorithm.name);
  Load& load = known->second;
  if (!is_new) return load;
  std::vector<double> shares(cluster_.links().size());
  for (const PairShare& pair : pair_shares(lanes_to_play(algorithm, request_of(1)))) {
    const TransportWay way = ways_.way(pair.from, pair.to);
    load.latency = std::max(load.latency, way.latency);
    load.pair_share = std::max(load.pair_share, pair.share);
    if (load.narrowest.per_second == 0 || way.bandwidth < load.narrowest)
      load.narrowest = way.bandwidth, load.narrowest_link = way.narrowest;
    if (way.links.empty()) load.seconds_per_byte = std::max(load.seconds_per_byte, pair.share / way.bandwidth.per_second);
    for (const LinkId link : way.links) shares[link] += pair.share;
  }
  for (LinkId link = 0; link < shares.size(); ++link) {
    const double needed = shares[link] / cluster_.links()[link].bandwidth.per_second;
    if (needed > load.seconds_per_byte) load.seconds_per_byte = needed, load.busiest_link = link;
  }
  return load;
}

double TransportJob::private_rate(const TransportWay& way, const TransportPlan& plan) const {
  double rate = way.links.empty() ? way.bandwidth.per_second : 0;
  const auto limit_to = [&](double limit) {
    if (limit > 0 && (rate == 0 || limit < rate)) rate = limit;
  };
  limit_to(transport_.stream_rate.per_second * std::max(1, transport_.streams) / transport_.wire_efficiency);
  if (plan.choice.pieces > 1 && plan.host_seconds_per_byte > 0) limit_to(1 / plan.host_seconds_per_byte / transport_.wire_efficiency);
  return rate;
}

/// One task: what the closed form has beyond the busiest link's data, then the flows.
Time TransportJob::flow_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan, const Load& load) const {
  TaskGraph graph;
  std::vector<ByteRate> capacities = cluster_.capacities();
  std::vector<PatternFlow> flows;
  const std::vector<PairShare> pairs = pair_shares(lanes_to_play(algorithm, request_of(1)));
  flows.reserve(pairs.size());
  double seconds_per_byte = load.seconds_per_byte / transport_.wire_efficiency;
  for (const PairShare& pair : pairs) {
    TransportWay way = ways_.way(pair.from, pair.to);
    const double weight = pair.share / transport_.wire_efficiency;
    if (const double rate = private_rate(way, plan); rate > 0) {
      way.links.push_back(static_cast<LinkId>(capacities.size()));
      capacities.push_back({rate});
      seconds_per_byte = std::max(seconds_per_byte, weight / rate);
    }
    flows.push_back({std::move(way.links), weight});
  }
  Task task;
  task.kind = TaskKind::collective;
  task.queue = graph.add_queue("transport");
  task.duration = std::max(Time{}, plan.alone - seconds(seconds_per_byte * static_cast<double>(size.count)));
  task.pattern = graph.add_pattern(std::move(flows));
  task.traffic = size;
  const TaskId id = graph.add(task);
  const std::unique_ptr<Network> network = make_max_min_network(std::move(capacities));
  return foretrain::run(graph, *network).end_of(id);
}

Time TransportJob::chunk_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan) const {
  const Lanes lanes = lanes_to_play(algorithm, request_of(plan.choice.pieces));
  TransferGraph graph;
  std::vector<ByteRate> capacities = cluster_.capacities();
  const double host = plan.choice.pieces > 1 ? 0 : plan.host_seconds_per_byte * static_cast<double>(plan.message.count);
  const Time busy = plan.overhead + seconds(host);
  const auto carrier = [&](int from, int to) {
    TransportWay way = ways_.way(from, to);
    const Time latency = way.latency * (plan.rendezvous ? 3 : 1) + transport_.header / plan.rate + busy;
    if (const double rate = private_rate(way, plan); rate > 0) {
      way.links.push_back(static_cast<LinkId>(capacities.size()));
      capacities.push_back({rate});
    }
    return LaneCarrier{std::move(way.links), latency, busy, 1 / transport_.wire_efficiency};
  };
  add_transfers(graph, lanes, static_cast<double>(size.count), carrier);
  const ChunkResult result = simulate_chunks(graph, capacities);
  if (!result.problem.empty()) throw InputError(fmt::format("chunk level: {}", result.problem), "--fidelity flow");
  return result.end;
}

}  // namespace foretrain
