// What FSDP does with a unit's gradients when they are complete.
#pragma once

#include <vector>

#include "sim/strategy/fsdp/fsdp_gathering.hpp"

namespace foretrain {

/// Each unit's gradient is divided, reduce-scattered (all-reduced without shards) and added to the shard, on
/// a stream of its own beside backward; between replicas the shard is all-reduced, on a communicator of its
/// own.
class FsdpReduction {
 public:
  FsdpReduction(Process& process, const ModelUnits& units, const FsdpSettings& settings);

  /// `accumulating`: there is an unsharded gradient of earlier micro-steps; `synchronises`: ranks exchange
  /// gradients in this one.
  void post_backward(std::uint32_t unit, bool accumulating, bool synchronises);
  /// The compute stream waits for all reductions.
  void finish();
  /// Of the last step, in launch order.
  const std::vector<Bytes>& messages() const { return messages_; }

 private:
  void flatten(std::uint32_t unit, bool accumulating);
  TaskId prepare(std::uint32_t unit);
  TaskId reduce(std::uint32_t unit, TaskId input);
  void update_shard(std::uint32_t unit, TaskId reduced);

  Process& process_;
  const ModelUnits& units_;
  FsdpSettings settings_;
  QueueId stream_;         ///< post_backward, or FSDP2's reduce_scatter
  QueueId across_stream_;  ///< NCCL's stream of the communicator between replicas
  LabelId flatten_label_, divide_label_, reduce_label_, across_label_, shard_label_;
  int predivide_;
  TaskId last_reduction_ = kNone, last_update_ = kNone;
  std::vector<Bytes> messages_;
};

/// Gradients are divided by this before and by ranks over this after the reduction, so that neither under-
/// nor overflows: about the root of `ranks` (default_hooks.py, _get_gradient_predivide_factor).
int gradient_predivide_factor(int ranks);

}  // namespace foretrain
