// Groups of a kind are alike, and all of them exchange at the same time. The group of rank 0 is timed in
// isolation. Its time is then stretched by the load that all groups together put on the busiest link of its
// first node.
//
// Tensor, context, expert, data and pipeline groups partition the same ranks in different ways. Which links a
// group uses follows from the order of the degrees in the rank number: the innermost degree stays inside
// nodes.
#include "sim/strategy/parallel/rank_groups.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/strategy/process/losses.hpp"

namespace foretrain {

namespace {

/// The array follows the order of Exchange.
CollectiveOp op_of(Exchange exchange) {
  constexpr CollectiveOp kOps[] = {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                   CollectiveOp::reduce_scatter, CollectiveOp::alltoall,
                                   CollectiveOp::sendrecv};
  return kOps[static_cast<std::size_t>(exchange)];
}

/// Returns `count` rank numbers from `first` on, `step` apart.
std::vector<int> every(int first, int step, int count) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(first + i * step);
  return ranks;
}

/// The ranks of one stage, which are consecutive.
struct StageRanks {
  // Tensor ranks; context x data ranks.
  int tensor, rest;
  // First rank of the stage.
  int first;
};

StageRanks stage_of(const Degrees& d, int rank) {
  const int in_stage = d.tensor * d.context * d.data;
  const int within = rank % in_stage;
  return {d.tensor, d.context * d.data, rank - within};
}

/// Adds the ranks of the stage that has the same layers for micro-batches from the other end.
std::vector<int> of_both_ways(const LargeModelRun& job, std::vector<int> ranks) {
  if (job.ways() == 1) return ranks;
  const int in_stage = job.degrees.gpus() / job.degrees.pipeline;
  const int stage = ranks.front() / in_stage, other = job.degrees.pipeline - 1 - stage;
  const auto own = ranks.size();
  for (std::size_t i = 0; i < own; ++i) ranks.push_back(ranks[i] + (other - stage) * in_stage);
  std::ranges::sort(ranks);
  return ranks;
}

/// Returns, of the ranks that hold the same parameters, those that share state with `rank` or those that hold
/// the same shard.
std::vector<int> cut_by_shards(const std::vector<int>& all, int rank, int shards, RankGroup group) {
  const auto place = static_cast<int>(std::ranges::find(all, rank) - all.begin());
  const auto count = static_cast<int>(all.size());
  const bool is_shards = group == RankGroup::shards;
  std::vector<int> ranks;
  for (const int i :
       is_shards ? every(place / shards * shards, 1, shards) : every(place % shards, shards, count / shards))
    ranks.push_back(all[static_cast<std::size_t>(i)]);
  return ranks;
}

}  // namespace

int rank_at(const Degrees& d, const RankPlace& p) {
  return p.tensor + d.tensor * (p.context + d.context * (p.data + d.data * p.pipeline));
}

RankPlace place_of(const Degrees& d, int rank) {
  return {rank % d.tensor, rank / d.tensor % d.context, rank / (d.tensor * d.context) % d.data,
          rank / (d.tensor * d.context * d.data)};
}

std::string_view name_of(RankGroup group) {
  constexpr std::string_view kNames[] = {
      "tensor", "context",  "expert",           "expert tensor", "gradients",
      "shards", "replicas", "expert gradients", "stages",        "first and last stage"};
  return kNames[static_cast<std::size_t>(group)];
}

/// Expert groups are blocks of expert x expert-tensor ranks within a stage; they cut across tensor, context
/// and data ranks.
std::vector<int> group_ranks(const LargeModelRun& job, RankGroup group, int rank) {
  const Degrees& d = job.degrees;
  const StageRanks stage = stage_of(d, rank);
  const RankPlace own = place_of(d, rank);
  const int in_stage = stage.tensor * stage.rest, within = rank - stage.first;
  switch (group) {
    case RankGroup::tensor:
      return every(rank - own.tensor, 1, d.tensor);
    case RankGroup::context:
      return every(rank_at(d, {own.tensor, 0, own.data, own.pipeline}), d.tensor, d.context);
    case RankGroup::gradients:
      return of_both_ways(job, every(stage.first + own.tensor, d.tensor, stage.rest));
    case RankGroup::shards:
    case RankGroup::replicas:
      return cut_by_shards(group_ranks(job, RankGroup::gradients, rank), rank, job.shards(), group);
    case RankGroup::expert_tensor:
      return every(rank - within % d.expert_tensor, 1, d.expert_tensor);
    case RankGroup::expert: {
      const int block = d.expert * d.expert_tensor;
      return every(stage.first + within / block * block + within % d.expert_tensor, d.expert_tensor,
                   d.expert);
    }
    case RankGroup::expert_gradients: {
      const int block = d.expert * d.expert_tensor;
      return of_both_ways(job, every(stage.first + within % block, block, in_stage / block));
    }
    case RankGroup::stages:
      if (d.pipeline == 1) return {rank};
      return {rank, (rank + in_stage) % d.gpus()};
    case RankGroup::ends:
      if (d.pipeline == 1) return {rank};
      return {within, within + in_stage * (d.pipeline - 1)};
  }
  return {rank};
}

GroupExchanges::GroupExchanges(const LargeModelRun& job, const Cluster& cluster, const Placement& ranks,
                               const CollectiveSettings& settings, ClusterCollectives& collectives,
                               double time_scale, double gpu_share_scale)
    : job_(job),
      cluster_(cluster),
      ranks_(ranks),
      settings_(settings),
      collectives_(collectives),
      time_scale_(time_scale),
      gpu_share_scale_(gpu_share_scale) {}

int GroupExchanges::size(RankGroup group) const {
  return static_cast<int>(group_ranks(job_, group, 0).size());
}

int GroupExchanges::nodes(RankGroup group) const {
  std::set<int> nodes;
  for (const int rank : group_ranks(job_, group, 0))
    nodes.insert(ranks_.ranks[static_cast<std::size_t>(rank)].node);
  return static_cast<int>(nodes.size());
}

/// Returns the groups of all ranks on rank 0's node, its own group first.
const std::vector<GroupExchanges::Sibling>& GroupExchanges::siblings(RankGroup group) {
  const auto [known, is_new] = siblings_.try_emplace(group);
  if (!is_new) return known->second;
  const int node = ranks_.ranks.front().node;
  std::set<std::vector<int>> seen;
  for (int rank = 0; rank < job_.gpus() && ranks_.ranks[static_cast<std::size_t>(rank)].node == node;
       ++rank) {
    const std::vector<int> members = group_ranks(job_, group, rank);
    if (members.size() < 2 || !seen.insert(members).second) continue;
    Placement placement{{}, 0};
    std::set<int> nodes;
    for (const int member : members) {
      placement.ranks.push_back(ranks_.ranks[static_cast<std::size_t>(member)]);
      nodes.insert(placement.ranks.back().node);
    }
    placement.nodes = static_cast<int>(nodes.size());
    known->second.push_back({collectives_.of(placement, {Group::world}, settings_, GpuPlace{node, 0})});
    // Groups inside a node have links of their own, or share them with no group that would slow them down, so
    // one is enough.
    if (placement.nodes == 1) break;
  }
  return known->second;
}

/// Returns the factor by which the busiest link of the node is busier with all groups and other jobs than
/// with one group alone.
double GroupExchanges::crowding(const std::vector<Sibling>& siblings, CollectiveOp op, Bytes size) const {
  std::map<LinkId, double> loads;
  const auto add = [&](const std::vector<PatternFlow>& flows) {
    for (const PatternFlow& flow : flows)
      for (const LinkId link : flow.route)
        loads[link] += flow.weight / cluster_.links()[link].bandwidth.per_second;
  };
  const auto busiest = [&] {
    double most = 0;
    for (const auto& [link, load] : loads) most = std::max(most, load);
    return most;
  };
  const GroupCollective& first = siblings.front().collectives->at(op, size);
  add(siblings.front().collectives->communicator().flows(first.plan));
  const double own = busiest() * first.plan.stretch;
  loads.clear();
  for (const Sibling& sibling : siblings) add(*sibling.collectives->flows(sibling.collectives->at(op, size)));
  return own > 0 ? std::max(1.0, busiest() / own) : 1;
}

/// Latency is not stretched by congested links, only the time of the data.
ExchangeTime GroupExchanges::compute(RankGroup group, CollectiveOp op, Bytes size) {
  const std::vector<Sibling>& all = siblings(group);
  if (all.empty()) return {};
  const Sibling& own = all.front();
  const GroupCollective& collective = own.collectives->at(op, size);
  const CollectivePlan& plan = collective.plan;
  const double alone = to_seconds(plan.alone), latency = std::min(alone, to_seconds(plan.latency));
  const double crowded = nodes(group) > 1 ? crowding(all, op, size) : 1;
  ExchangeTime time;
  time.alone = alone * time_scale_;
  time.seconds = (latency + (alone - latency) * crowded) * time_scale_;
  time.gpu_share = share_of_collective(plan, cluster_.node_spec(ranks_.ranks.front().node).gpu,
                                       own.collectives->communicator().size(), gpu_share_scale_);
  time.how = collective.decision.choice;
  return time;
}

/// Sizes are rounded up to whole bytes, at least one.
const ExchangeTime& GroupExchanges::at(RankGroup group, Exchange exchange, double bytes) {
  const Bytes size{static_cast<std::int64_t>(std::ceil(std::max(1.0, bytes)))};
  const CollectiveOp op = op_of(exchange);
  const auto [known, is_new] = known_.try_emplace({group, op, size.count});
  if (is_new) known->second = compute(group, op, size);
  return known->second;
}

}  // namespace foretrain
