// Costs of lanes, and their expansion to a schedule.
#include "sim/collective/lanes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/collective/lanes_dataflow.hpp"

namespace foretrain {

namespace {

/// Returns the i-th number that has the bit `digit` set.
int row_with_digit(int digit, int i) {
  const int low = i & ((1 << digit) - 1);
  return ((i - low) << 1) + (1 << digit) + low;
}

/// Finds the longest chains by dynamic programming in an order of the messages: by needs alone, with each
/// lane's order, and by bytes.
void count_chains(const Lanes& lanes, LaneCosts& costs) {
  const Dataflow flow(lanes);
  std::vector<int> hops(flow.size()), steps(flow.size());
  std::vector<std::int64_t> chunks(flow.size());
  std::int64_t most_chunks = 0;
  for (const std::size_t m : flow.order()) {
    if (flow.index(m) > 0) {
      // The order of a lane is no latency: hops only rise by needs.
      hops[m] = hops[m - 1] - 1;
      steps[m] = steps[m - 1];
      chunks[m] = chunks[m - 1];
    }
    flow.for_awaited(m, [&](std::size_t awaited) {
      hops[m] = std::max(hops[m], hops[awaited]);
      steps[m] = std::max(steps[m], steps[awaited]);
      chunks[m] = std::max(chunks[m], chunks[awaited]);
    });
    costs.hops = std::max(costs.hops, ++hops[m]);
    costs.steps = std::max(costs.steps, ++steps[m]);
    most_chunks = std::max(most_chunks, chunks[m] += lanes.lanes[flow.lane(m)].width);
  }
  costs.chain = static_cast<double>(most_chunks) * lanes.chunk_share();
}

/// Traffic of one rank in one direction.
struct Traffic {
  std::int64_t chunks = 0;
  /// Number of these chunks that are added.
  std::int64_t adding = 0;
  int messages = 0;
  void add(const Lane& lane) {
    chunks += static_cast<std::int64_t>(lane.messages) * lane.width;
    adding += static_cast<std::int64_t>(std::min(lane.messages, lane.first_copy)) * lane.width;
    messages += lane.messages;
  }
  void keep_most(const Traffic& other) {
    chunks = std::max(chunks, other.chunks);
    adding = std::max(adding, other.adding);
    messages = std::max(messages, other.messages);
  }
};

/// Counts bytes and messages of each rank in both directions and keeps the largest values.
void count_traffic(const Lanes& lanes, LaneCosts& costs) {
  const std::size_t holders = static_cast<std::size_t>(lanes.ranks + lanes.switches);
  std::vector<Traffic> sent(holders), received(holders);
  Traffic total, most_sent, most_received;
  int widest = 0;
  for (const Lane& lane : lanes.lanes) {
    sent[static_cast<std::size_t>(lane.from)].add(lane);
    received[static_cast<std::size_t>(lane.to)].add(lane);
    total.add(lane);
    widest = std::max(widest, lane.width);
  }
  for (const PairShare& pair : pair_shares(lanes)) costs.pair = std::max(costs.pair, pair.share);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(lanes.ranks); ++rank) {
    most_sent.keep_most(sent[rank]);
    most_received.keep_most(received[rank]);
  }
  const double share = lanes.chunk_share();
  costs.sent = static_cast<double>(most_sent.chunks) * share;
  costs.received = static_cast<double>(most_received.chunks) * share;
  costs.total = static_cast<double>(total.chunks) * share;
  costs.added = static_cast<double>(most_received.adding) * share;
  costs.message = widest * share;
  costs.messages = std::max(most_sent.messages, most_received.messages);
}

/// Moves every message to the earliest step that its needs and its lane allow, but not before its present
/// step.
void settle(const Dataflow& flow, std::vector<int>& step) {
  for (const std::size_t m : flow.order()) {
    if (flow.index(m) > 0) step[m] = std::max(step[m], step[m - 1] + 1);
    flow.for_awaited(m, [&](std::size_t awaited) { step[m] = std::max(step[m], step[awaited] + 1); });
  }
}

/// Returns pairs (arriving, leaving) of messages with the same chunk at the same rank, where the leaving
/// message does not wait for the arriving one.
std::vector<std::pair<std::size_t, std::size_t>> unordered_pairs(const Lanes& lanes, const Dataflow& flow) {
  std::map<std::pair<int, int>, std::vector<std::size_t>> leaving;
  const auto for_chunks = [&](std::size_t m, const auto& use) {
    const Lane& lane = lanes.lanes[flow.lane(m)];
    for (int i = 0; i < lane.width; ++i) use(lane, lanes.chunk(lane, flow.index(m), i));
  };
  for (std::size_t m = 0; m < flow.size(); ++m)
    for_chunks(m, [&](const Lane& lane, int chunk) { leaving[{lane.from, chunk}].push_back(m); });
  const std::vector<MessageSet> arrived = flow.arrived();
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t m = 0; m < flow.size(); ++m) {
    for_chunks(m, [&](const Lane& lane, int chunk) {
      for (const std::size_t other : leaving[{lane.to, chunk}]) {
        if (!arrived[other].has(m)) pairs.emplace_back(m, other);
      }
    });
  }
  return pairs;
}

}  // namespace

int wrapped(int value, int modulus) {
  const int rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

int Lanes::chunk(const Lane& lane, int message, int i) const {
  if (lane.digit >= 0) {
    const int row = row_with_digit(lane.digit, i);
    return row * ranks + wrapped(lane.first - row % (1 << lane.digit), ranks);
  }
  return lane.base + wrapped(lane.first + message * lane.stride + i, lane.wrap);
}

double Lanes::chunk_share() const {
  const bool one_ranks_size = op == CollectiveOp::alltoall || op == CollectiveOp::sendrecv;
  return static_cast<double>(one_ranks_size ? ranks : 1) / chunks;
}

int Lanes::awaited(const LaneNeed& need, int message) const {
  return message < need.lag ? -1 : std::min(message - need.lag, lanes[need.lane].messages - 1);
}

std::uint32_t add_lane(Lanes& lanes, Lane lane, const std::vector<LaneNeed>& needs) {
  lane.first_need = static_cast<std::uint32_t>(lanes.needs.size());
  lane.needs = static_cast<std::uint32_t>(needs.size());
  lanes.needs.insert(lanes.needs.end(), needs.begin(), needs.end());
  lanes.lanes.push_back(lane);
  return static_cast<std::uint32_t>(lanes.lanes.size() - 1);
}

LaneNeed last_of(const Lanes& lanes, std::uint32_t lane) { return {lane, 1 - lanes.lanes[lane].messages}; }

std::vector<PairShare> pair_shares(const Lanes& lanes) {
  std::vector<PairShare> pairs;
  pairs.reserve(lanes.lanes.size());
  for (const Lane& lane : lanes.lanes)
    pairs.push_back({lane.from, lane.to, lane.messages * lanes.message_share(lane)});
  std::ranges::sort(pairs, {}, [](const PairShare& pair) { return std::pair(pair.from, pair.to); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    if (pairs[i].from == pairs[kept].from && pairs[i].to == pairs[kept].to)
      pairs[kept].share += pairs[i].share;
    else
      pairs[++kept] = pairs[i];
  }
  if (!pairs.empty()) pairs.resize(kept + 1);
  return pairs;
}

LaneCosts count_costs(const Lanes& lanes) {
  LaneCosts costs;
  count_traffic(lanes, costs);
  count_chains(lanes, costs);
  return costs;
}

Schedule expand(const Lanes& lanes) {
  Schedule schedule{lanes.op, lanes.ranks, lanes.chunks, lanes.root, {}, lanes.switches, lanes.order};
  const Dataflow flow(lanes);
  std::vector<int> step(flow.size()), before;
  settle(flow, step);
  const auto pairs = unordered_pairs(lanes, flow);
  // Every round moves some message at least one step further. One round more than messages means that no
  // order satisfies all pairs.
  for (std::size_t round = 0; before != step && round <= flow.size(); ++round) {
    before = step;
    for (const auto& [arriving, leaving] : pairs) step[arriving] = std::max(step[arriving], step[leaving]);
    settle(flow, step);
  }
  for (std::size_t m = 0; m < flow.size(); ++m) {
    const Lane& lane = lanes.lanes[flow.lane(m)];
    const Transfer::Combine combine = flow.index(m) < lane.first_copy ? Transfer::reduce : Transfer::copy;
    for (int i = 0; i < lane.width; ++i)
      schedule.transfers.push_back(
          {step[m], lane.from, lane.to, lanes.chunk(lane, flow.index(m), i), combine});
  }
  return schedule;
}

}  // namespace foretrain
