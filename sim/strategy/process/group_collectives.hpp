// The communicators of a job's groups of ranks, and what they do with each message: found out once, however
// many plans ask.
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

/// Ranks that take part in a collective: all; those of the first rank's node; or on every node those with the
/// same place in it, each such set by itself and all sets at once.
/// Numbers beyond are those of Process::add_group().
enum class Group : std::uint8_t { world, node, across };

/// Which ranks are together in each set of a group: as `group` says, or with a size the ranks of the job in
/// their order, in blocks of size x stride, every stride-th of a block together.
struct RankSets {
  Group group = Group::world;
  int size = 0, stride = 1;
  friend bool operator==(const RankSets&, const RankSets&) = default;
};

using TrafficFlows = std::shared_ptr<const std::vector<PatternFlow>>;

/// A message of a group.
struct GroupCollective {
  CollectivePlan plan;
  Decision decision;
  TrafficFlows flows{};  ///< once GroupCollectives::flows() was asked for them
};

/// One group of a job. Of several sets at once the first stands for all, but for their traffic.
class GroupCollectives {
 public:
  /// Requires that the ranks' nodes are part of the cluster, which must outlive this. `own`: a rank whose set
  /// stands for all.
  GroupCollectives(const Cluster& cluster, const Placement& job, const RankSets& sets, GpuPlace own,
                   const CollectiveSettings& settings, nccl::NodeGraphCache& searched);
  /// Flows are those that touch this node of the job; by default that of rank 0.
  void see_from(int node) { seen_from_ = node; }

  const Communicator& communicator() const { return sets_.front(); }
  /// Stays where it is.
  GroupCollective& at(CollectiveOp op, Bytes size);
  /// Of all sets, per byte of message.
  const TrafficFlows& flows(GroupCollective& collective) const;

 private:
  const Cluster& cluster_;
  std::optional<int> seen_from_;
  std::vector<Communicator> sets_;
  std::map<std::pair<CollectiveOp, std::int64_t>, GroupCollective> known_;
};

/// The groups of jobs on one cluster that plans have asked for, the latest ones as long as all of them
/// together have no more ranks than kMostRanks; and NCCL's channels of every set of GPUs. Not for several
/// threads at once.
class ClusterCollectives {
 public:
  /// The cluster must outlive this and what it hands out.
  explicit ClusterCollectives(const Cluster& cluster) : cluster_(cluster) {}
  /// `seen_from`: a GPU of the node whose links count; of sets with a size also a rank of the first set.
  std::shared_ptr<GroupCollectives> of(const Placement& job, const RankSets& sets,
                                       const CollectiveSettings& settings,
                                       std::optional<GpuPlace> seen_from = std::nullopt);
  /// How many are kept.
  std::size_t size() const { return known_.size(); }
  /// NCCL's searches so far: one for each set of GPUs of a node.
  int searches() const { return searched_.searches(); }

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
  std::list<Known> known_;  ///< the latest first
  std::size_t ranks_ = 0;   ///< of all
};

}  // namespace foretrain
