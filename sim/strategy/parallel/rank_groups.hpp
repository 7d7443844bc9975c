// The place of a rank in a run with several degrees, the groups of ranks that it exchanges with, and the
// times of these exchanges on the cluster's links.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/strategy/parallel/job.hpp"
#include "sim/strategy/process/group_collectives.hpp"

namespace foretrain {

/// The place of a rank. Rank numbers count tensor places first, then context, data and pipeline places, as in
/// nanotron, Megatron-LM, torchtitan and DeepSpeed.
struct RankPlace {
  int tensor = 0, context = 0, data = 0, pipeline = 0;
};
/// Convert a place to a rank number and back.
int rank_at(const Degrees& degrees, const RankPlace& place);
RankPlace place_of(const Degrees& degrees, int rank);

/// Groups by what they exchange. `gradients`: data and context ranks of a stage. `shards`: those of them that
/// share state. `replicas`: ranks that hold the same shard. `expert_gradients`: ranks that hold the same
/// experts. `stages`: neighbours in the pipeline. `ends`: first and last stage.
enum class RankGroup : std::uint8_t {
  tensor,
  context,
  expert,
  expert_tensor,
  gradients,
  shards,
  replicas,
  expert_gradients,
  stages,
  ends
};
std::string_view name_of(RankGroup group);

/// Returns the ranks of the group of rank `rank`, in order. A group of one rank contains only itself.
std::vector<int> group_ranks(const LargeModelRun& job, RankGroup group, int rank);

/// Time of one exchange of a group of ranks, isolated and together with the other groups of the node that
/// exchange at the same time.
struct ExchangeTime {
  /// Seconds on links that all groups of the kind use at the same time.
  double seconds = 0;
  /// Seconds if no other group used them.
  double alone = 0;
  /// Fraction of the GPU taken while it runs.
  double gpu_share = 0;
  /// Algorithm in words, such as "NVLS, Simple, 16 channels".
  std::string how;
};

/// Times of exchanges of rank 0's groups. Each message size is computed once. Not thread-safe.
class GroupExchanges {
 public:
  /// `ranks`: GPUs of the run by rank number. All arguments must outlive this object.
  GroupExchanges(const LargeModelRun& job, const Cluster& cluster, const Placement& ranks,
                 const CollectiveSettings& settings, ClusterCollectives& collectives, double time_scale = 1,
                 double gpu_share_scale = 1);

  /// Returns the time of an exchange of `bytes`. Sizes are counted as CollectiveOp counts them: all parts
  /// together; for all_to_all and ring_pass the bytes that one rank sends. The reference stays valid as long
  /// as this object.
  const ExchangeTime& at(RankGroup group, Exchange exchange, double bytes);
  /// Returns the number of ranks in the group.
  int size(RankGroup group) const;
  /// Returns the number of nodes that the group spans.
  int nodes(RankGroup group) const;

 private:
  /// A group of the same kind on rank 0's node.
  struct Sibling {
    std::shared_ptr<GroupCollectives> collectives;
  };
  const std::vector<Sibling>& siblings(RankGroup group);
  ExchangeTime compute(RankGroup group, CollectiveOp op, Bytes size);
  double crowding(const std::vector<Sibling>& siblings, CollectiveOp op, Bytes size) const;

  const LargeModelRun& job_;
  const Cluster& cluster_;
  const Placement& ranks_;
  CollectiveSettings settings_;
  ClusterCollectives& collectives_;
  double time_scale_, gpu_share_scale_;
  std::map<RankGroup, std::vector<Sibling>> siblings_;
  std::map<std::tuple<RankGroup, CollectiveOp, std::int64_t>, ExchangeTime> known_;
};

}  // namespace foretrain
