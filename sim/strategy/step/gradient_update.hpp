// From gradients to new weights: the GradScaler's check, clipping, the optimizer, master weights.
#pragma once

#include <vector>

#include "sim/strategy/step/step_launches.hpp"

namespace foretrain {

/// Everything between the end of backward and the next step. Order: scaler's check, clipping, optimizer,
/// scaler's update.
class GradientUpdate {
 public:
  /// `tensors`: sizes of what is updated (shards); empty: every parameter.
  GradientUpdate(Process& process, StepLaunches& launches, std::vector<std::int64_t> tensors = {});

  /// The scaler multiplies the loss; nothing but in amp_fp16.
  void scale_loss();
  /// Returns the last kernel.
  TaskId apply();
  const std::vector<std::int64_t>& tensors() const { return tensors_; }

 private:
  void check_gradients();
  void clip_norm();
  void each_tensor(std::int64_t bytes_per_element, Time reference);
  void packed(std::int64_t bytes_per_element, Time reference);
  void small_kernels(int count, Time reference);
  TaskId optimize();
  bool scales() const;

  Process& process_;
  StepLaunches& launches_;
  const Workload& workload_;
  std::vector<std::int64_t> tensors_;  ///< elements of each parameter or shard
  std::vector<OptimizerLaunch> optimizer_launches_;
  LabelId optimizer_label_, clip_label_;
};

}  // namespace foretrain
