// A rank's place in a job of several degrees, the groups of ranks it exchanges with, and how long that takes
// on the cluster's links.
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

/// Ranks count tensor places first, then context, data and pipeline places, as nanotron, Megatron-LM,
/// torchtitan and DeepSpeed place them.
struct RankPlace {
  int tensor = 0, context = 0, data = 0, pipeline = 0;
};
int rank_at(const Degrees& degrees, const RankPlace& place);
RankPlace place_of(const Degrees& degrees, int rank);

/// Who exchanges what. `gradients`: data and context ranks of a stage. `shards`: those of them that share out
/// state. `replicas`: ranks that hold the same shard. `expert_gradients`: of an expert's weights. `stages`:
/// neighbours in the pipeline. `ends`: first and last stage.
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

/// The ranks of the group of rank `rank`, in order; itself alone where the group has one.
std::vector<int> group_ranks(const LargeModelRun& job, RankGroup group, int rank);

/// Time of one exchange among a group of ranks, alone and with the other groups of the node that exchange at
/// the same time.
struct ExchangeTime {
  double seconds = 0;    ///< on links that all groups of the kind use at once
  double alone = 0;      ///< if no other group used them
  double gpu_share = 0;  ///< of the GPU, while it runs
  std::string how;       ///< "NVLS, Simple, 16 channels"
};

/// Times of exchanges of rank 0's groups, each message size asked for once. Not for several threads at once.
class GroupExchanges {
 public:
  /// `ranks`: GPUs of the job by rank. All must outlive this.
  GroupExchanges(const LargeModelRun& job, const Cluster& cluster, const Placement& ranks,
                 const CollectiveSettings& settings, ClusterCollectives& collectives, double time_scale = 1,
                 double gpu_share_scale = 1);

  /// Sizes as CollectiveOp counts them: all parts together; of all_to_all and ring_pass what one rank sends.
  const ExchangeTime& at(RankGroup group, Exchange exchange, double bytes);
  int size(RankGroup group) const;
  /// Nodes that the group is on.
  int nodes(RankGroup group) const;

 private:
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
