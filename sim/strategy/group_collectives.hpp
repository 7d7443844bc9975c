// The communicators of a job's groups of ranks, and what they do with each message: found out once, however many plans ask.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

/// Ranks that take part in a collective: all; those of the first rank's node; or on every node those with the same place in it, each such
/// set by itself and all sets at once.
enum class Group : std::uint8_t { world, node, across };

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
  /// Requires that the ranks' nodes are part of the cluster, which must outlive this.
  GroupCollectives(const Cluster& cluster, const Placement& job, Group group, const CollectiveSettings& settings);

  const Communicator& communicator() const { return sets_.front(); }
  /// Stays where it is.
  GroupCollective& at(CollectiveOp op, Bytes size);
  /// Of all sets, per byte of message.
  const TrafficFlows& flows(GroupCollective& collective) const;

 private:
  std::vector<Communicator> sets_;
  std::map<std::pair<CollectiveOp, std::int64_t>, GroupCollective> known_;
};

/// The groups of all jobs on one cluster that plans have asked for. Not for several threads at once.
class ClusterCollectives {
 public:
  /// The cluster must outlive this and what it hands out.
  explicit ClusterCollectives(const Cluster& cluster) : cluster_(cluster) {}
  std::shared_ptr<GroupCollectives> of(const Placement& job, Group group, const CollectiveSettings& settings);
  /// How many were made.
  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    std::vector<GpuPlace> ranks;
    Group group;
    CollectiveSettings settings;
    std::shared_ptr<GroupCollectives> collectives;
  };
  const Cluster& cluster_;
  std::vector<Known> known_;
};

}  // namespace foretrain
