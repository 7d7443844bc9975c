// The communicators of a job's groups of ranks, and the plan of each of their messages. Each is computed once
// and shared by all plans.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

/// Ranks that take part in a collective. `world`: all ranks. `node`: the ranks of the first rank's node.
/// `across`: the ranks with the same place in their node, one set for each place, all sets at the same time.
/// Numbers beyond these are those that Process::add_group() returns.
enum class Group : std::uint8_t { world, node, across };

/// The sets of ranks that make up a group. With size 0 `group` decides. Otherwise the job's ranks,
/// in their order, are cut into blocks of size x stride, and every stride-th rank of a block belongs to the
/// same set.
struct RankSets {
  Group group = Group::world;
  int size = 0, stride = 1;
  friend bool operator==(const RankSets&, const RankSets&) = default;
};

using TrafficFlows = std::shared_ptr<const std::vector<PatternFlow>>;

/// A message of one group: the plan of its collective and the decision that explains it.
struct GroupCollective {
  CollectivePlan plan;
  Decision decision;
  /// Filled by GroupCollectives::flows().
  TrafficFlows flows{};
};

/// One group of a job. If the group consists of several sets, the first set stands for all of them, except
/// that the traffic of all sets is counted.
class GroupCollectives {
 public:
  /// Builds a communicator for each set. Requires that the ranks' nodes are part of the cluster, which must
  /// outlive this object. `own`: a rank whose set comes first and stands for all. `searched` caches NCCL's
  /// searches.
  GroupCollectives(const Cluster& cluster, const Placement& job, const RankSets& sets, GpuPlace own,
                   const CollectiveSettings& settings, nccl::NodeGraphCache& searched);
  /// Restricts flows() to those that touch this node. By default it is the node of rank 0.
  void see_from(int node) { seen_from_ = node; }

  const Communicator& communicator() const { return sets_.front(); }
  /// Returns the message of this operation and size, and plans it at the first request. The reference stays
  /// valid as long as this object.
  GroupCollective& at(CollectiveOp op, Bytes size);
  /// Returns the flows of all sets, in bytes per byte of message, with the background traffic of other jobs.
  /// Computes them at the first request.
  const TrafficFlows& flows(GroupCollective& collective) const;

 private:
  const Cluster& cluster_;
  std::optional<int> seen_from_;
  std::vector<Communicator> sets_;
  std::map<std::pair<CollectiveOp, std::int64_t>, GroupCollective> known_;
};

/// Cache of the groups of jobs on one cluster, and of NCCL's channels for every set of GPUs. It keeps the
/// groups that were used last, as long as all of them together have at most kMostRanks ranks. Not
/// thread-safe.
class ClusterCollectives {
 public:
  /// The cluster must outlive this object and the groups that it returns.
  explicit ClusterCollectives(const Cluster& cluster) : cluster_(cluster) {}
  /// Returns the group, from the cache or built anew. `seen_from`: a GPU of the node whose links count; for
  /// sets with a size also a rank of the first set. The cost of a look-up is linear in the number of groups
  /// kept, times the ranks compared.
  std::shared_ptr<GroupCollectives> of(const Placement& job, const RankSets& sets,
                                       const CollectiveSettings& settings,
                                       std::optional<GpuPlace> seen_from = std::nullopt);
  /// Returns the number of groups in the cache.
  std::size_t size() const { return known_.size(); }
  /// Returns the number of NCCL's searches so far, one for each set of GPUs of a node.
  int searches() const { return searched_.searches(); }

  /// Limit of the cache: the ranks of all groups together.
  static constexpr std::size_t kMostRanks = 1 << 20;

 private:
  struct Known {
    std::vector<GpuPlace> ranks;
    RankSets sets;
    CollectiveSettings settings;
    std::optional<GpuPlace> seen_from;
    std::shared_ptr<GroupCollectives> collectives;
  };
  const Cluster& cluster_;
  nccl::NodeGraphCache searched_;
  /// The groups, the last used one first.
  std::list<Known> known_;
  /// Ranks of all groups in the cache.
  std::size_t ranks_ = 0;
};

}  // namespace foretrain
