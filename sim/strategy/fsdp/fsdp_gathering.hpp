// When FSDP has the parameters of a unit whole on a GPU: gathers, prefetches, frees.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "sim/strategy/fsdp/model_units.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// How a job shards, defaults of its version resolved.
struct FsdpSettings {
  bool per_parameter = false;  ///< FSDP2 (fully_shard): each parameter is sharded, gathers copy in and out
  Sharding sharding = Sharding::full_shard;
  BackwardPrefetch backward_prefetch = BackwardPrefetch::pre;
  bool forward_prefetch = false;
  bool limit_all_gathers = true;
  std::int64_t element_bytes = 4;  ///< of gathered parameters and of gradients on the wire
  int ranks = 1;                   ///< of the job
  int shards = 1;                  ///< ranks that hold one copy together
  int replicas = 1;                ///< copies (hybrid_shard: nodes)
  Group group = Group::world;      ///< of the ranks that hold one copy

  std::int64_t padded(std::int64_t elements) const { return (elements + shards - 1) / shards * shards; }
  bool is_half() const { return element_bytes == 2; }
};

/// The unshard and reshard logic of torch/distributed/fsdp/_runtime_utils.py and of FSDP2's
/// _fsdp_param_group.py.
class FsdpGathering {
 public:
  FsdpGathering(Process& process, const ModelUnits& units, const FsdpSettings& settings);

  /// The root's pre-forward: gathers of this iteration wait for what the compute stream has done so far (the
  /// optimizer).
  void begin_iteration();
  void pre_forward(std::uint32_t unit);
  void post_forward(std::uint32_t unit);
  /// Only the first call of an iteration does something.
  void pre_backward(std::uint32_t unit);
  /// Frees the unit and gathers the next one if that is when it is done. Without synchronisation (no_sync) a
  /// strategy that keeps parameters from forward to backward keeps them for the next micro-step, too.
  void post_backward(std::uint32_t unit, bool synchronises);

 private:
  bool gathers() const { return settings_.sharding != Sharding::no_shard; }
  void hook(QueueId thread, std::uint32_t unit);
  void unshard(QueueId thread, std::uint32_t unit);
  TaskId prepare_shard(QueueId thread, std::uint32_t unit);
  void wait_for(QueueId thread, std::uint32_t unit);
  void free_unit(QueueId thread, std::uint32_t unit);
  void prefetch_before(std::uint32_t unit);

  Process& process_;
  const ModelUnits& units_;
  FsdpSettings settings_;
  QueueId shard_stream_;  ///< pre_unshard, or FSDP2's all_gather_copy_in
  LabelId forward_label_, backward_label_, shard_label_, copy_out_label_;
  TaskId iteration_start_ = kNone;
  bool in_backward_ = false;
  std::vector<TaskId> gathered_;  ///< per unit: the gather that made it whole, kNone while sharded
  std::vector<bool> waited_;      ///< the compute stream waits for it already
  std::vector<bool> ran_backward_;
  std::vector<std::uint32_t> place_;  ///< per unit: its place in the order of this forward pass, kNone before
  std::vector<std::uint32_t> forward_order_;
  std::deque<TaskId> free_events_;
  std::vector<TaskId> copy_outs_;  ///< FSDP2, of this iteration
};

}  // namespace foretrain
