// Groups of ranks and their messages. Every step issues the same messages, and every run on the same GPUs the
// same collectives, so both are cached.
#include "sim/strategy/process/group_collectives.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/strategy/process/background_traffic.hpp"

namespace foretrain {

namespace {

/// Returns the ranks on the node of the first rank.
Placement ranks_of_first_node(const std::vector<GpuPlace>& ranks) {
  Placement set;
  for (const GpuPlace& rank : ranks) {
    if (rank.node == ranks.front().node) set.ranks.push_back(rank);
  }
  return set;
}

/// Returns one set of ranks for each place in a node. Places are those of the first node's ranks.
std::vector<Placement> sets_across_nodes(const std::vector<GpuPlace>& ranks) {
  std::vector<Placement> sets;
  for (const GpuPlace& first : ranks) {
    if (first.node != ranks.front().node) continue;
    Placement set{{}, 0};
    for (const GpuPlace& rank : ranks) {
      if (rank.gpu != first.gpu) continue;
      set.ranks.push_back(rank);
      ++set.nodes;
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

/// Returns the sets of a group with a size, the set that contains `own` first. The last block may be shorter
/// than the others.
std::vector<Placement> strided_sets(const std::vector<GpuPlace>& ranks, const RankSets& wanted,
                                    GpuPlace own) {
  const auto size = static_cast<std::size_t>(wanted.size), stride = static_cast<std::size_t>(wanted.stride);
  std::vector<Placement> sets;
  for (std::size_t block = 0; block < ranks.size(); block += size * stride) {
    for (std::size_t first = block; first < std::min(block + stride, ranks.size()); ++first) {
      Placement set{{}, 0};
      std::set<int> nodes;
      for (std::size_t i = 0; i < size && first + i * stride < ranks.size(); ++i) {
        set.ranks.push_back(ranks[first + i * stride]);
        nodes.insert(set.ranks.back().node);
      }
      set.nodes = static_cast<int>(nodes.size());
      const bool is_own = std::ranges::find(set.ranks, own) != set.ranks.end();
      sets.insert(is_own ? sets.begin() : sets.end(), std::move(set));
    }
  }
  return sets;
}

/// Returns all sets of a group, the representative one first.
std::vector<Placement> sets_of(const Placement& job, const RankSets& sets, GpuPlace own) {
  if (sets.size > 0) return strided_sets(job.ranks, sets, own);
  if (sets.group == Group::world) return {job};
  if (sets.group == Group::node) return {ranks_of_first_node(job.ranks)};
  return sets_across_nodes(job.ranks);
}

}  // namespace

GroupCollectives::GroupCollectives(const Cluster& cluster, const Placement& job, const RankSets& sets,
                                   GpuPlace own, const CollectiveSettings& settings,
                                   nccl::NodeGraphCache& searched)
    : cluster_(cluster) {
  for (const Placement& set : sets_of(job, sets, own)) sets_.emplace_back(cluster, set, settings, searched);
}

GroupCollective& GroupCollectives::at(CollectiveOp op, Bytes size) {
  const auto [place, is_new] = known_.try_emplace({op, size.count});
  GroupCollective& known = place->second;
  if (!is_new) return known;
  const CollectivePlan& plan = known.plan = communicator().plan(op, size);
  known.decision = {fmt::format("{} {}", name_of(op), to_string(size)),
                    fmt::format("{}, {}, {}", plan.algorithm_name(), name_of(plan.protocol),
                                counted(plan.channels, "channel")),
                    plan.why};
  return known;
}

/// Flows are per byte of message, so that messages of every size with the same plan can share them.
const TrafficFlows& GroupCollectives::flows(GroupCollective& collective) const {
  if (collective.flows) return collective.flows;
  std::vector<PatternFlow> flows;
  std::set<LinkId> between_switches;
  for (const Communicator& set : sets_) {
    // A set of one rank sends nothing.
    if (sets_.size() > 1 && set.size() == 1) continue;
    const CollectivePlan plan =
        &set == &sets_.front() ? collective.plan : set.plan(collective.plan.op, collective.plan.size, false);
    std::vector<PatternFlow> own = seen_from_ ? set.flows(plan, *seen_from_) : set.flows(plan);
    flows.insert(flows.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
    const std::vector<LinkId>& links = set.links_between_switches(plan);
    between_switches.insert(links.begin(), links.end());
  }
  add_background(flows, cluster_, between_switches.size());
  collective.flows = std::make_shared<const std::vector<PatternFlow>>(std::move(flows));
  return collective.flows;
}

/// A hit moves the group to the front. A miss builds it, then drops the groups that were used longest ago,
/// until the limit holds or one group is left. Callers hold shared pointers, so dropped groups stay valid for
/// them.
std::shared_ptr<GroupCollectives> ClusterCollectives::of(const Placement& job, const RankSets& sets,
                                                         const CollectiveSettings& settings,
                                                         std::optional<GpuPlace> seen_from) {
  const auto known = std::ranges::find_if(known_, [&](const Known& other) {
    return other.sets == sets && other.ranks == job.ranks && other.settings == settings &&
           other.seen_from == seen_from;
  });
  if (known != known_.end()) {
    known_.splice(known_.begin(), known_, known);
    return known->collectives;
  }
  const GpuPlace own = seen_from.value_or(job.ranks.front());
  known_.push_front({job.ranks, sets, settings, seen_from,
                     std::make_shared<GroupCollectives>(cluster_, job, sets, own, settings, searched_)});
  if (seen_from) known_.front().collectives->see_from(seen_from->node);
  for (ranks_ += job.ranks.size(); ranks_ > kMostRanks && known_.size() > 1; known_.pop_back())
    ranks_ -= known_.back().ranks.size();
  return known_.front().collectives;
}

}  // namespace foretrain
