// The parts of a training step every strategy shares: batch, forward, loss, backward, optimizer, as the script issues them.
#pragma once

#include <functional>
#include <vector>

#include "sim/strategy/process.hpp"

namespace foretrain {

/// Issues the steps of one process. Order of one step (docs/models/step.md): next batch, copy to the GPU, zero_grad, forward,
/// loss.item() if it stands there, backward, GradScaler, optimizer, loop overhead.
class TrainingStep {
 public:
  explicit TrainingStep(Process& process);

  /// Called on the autograd thread when a parameter's gradient has been launched (its index in ExpandedModel::parameters).
  using GradientHook = std::function<void(std::uint32_t parameter)>;

  void load_batch();
  void zero_gradients();
  void forward();
  /// `accumulating`: the gradient is added to one that exists already.
  void backward(bool accumulating, const GradientHook& hook);
  /// GradScaler's check in amp_fp16, then the optimizer; returns the last kernel of the step.
  TaskId optimize();
  /// `loss.item()` after the step and the loop's own overhead.
  void finish_step();

 private:
  void take_batch_from_workers();
  void launch_operator(QueueId thread, const Operator& op);
  void cast_weights(QueueId thread, std::uint32_t layer);
  bool loss_is_read() const;

  Process& process_;
  const Workload& workload_;
  const ExpandedModel& model_;
  std::vector<LabelId> labels_;              ///< per layer
  std::vector<std::int64_t> cast_elements_;  ///< per layer: weights that autocast converts
  std::vector<OptimizerLaunch> optimizer_launches_;
  std::vector<TaskId> batches_taken_;
  LabelId input_label_, optimizer_label_, gradient_label_;
  int step_ = 0;
};

/// Bytes of one batch on their way to the GPU: the data set's sample size, or the network's input in fp32 and an 8-byte label.
Bytes batch_bytes(const Workload& workload);

/// Time between two batches from the loader workers of one rank, and of one batch in one worker.
struct LoaderPace {
  Time interval{};
  Time one_batch{};
  int workers_at_once = 0;
};
LoaderPace loader_pace(const Workload& workload, const NodeSpec& node);

}  // namespace foretrain
