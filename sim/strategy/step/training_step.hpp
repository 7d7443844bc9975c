// The parts of a training step every strategy shares: batch, forward, loss, backward, optimizer, as the
// script issues them.
#pragma once

#include <functional>
#include <vector>

#include "sim/strategy/process/input_pipeline.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/step/gradient_noise.hpp"
#include "sim/strategy/step/gradient_update.hpp"
#include "sim/strategy/step/step_launches.hpp"

namespace foretrain {

/// Issues the steps of one process. Order of one step (docs/models/step.md): next batch, copy to the GPU,
/// zero_grad, forward, loss.item() if it stands there, backward, GradScaler, optimizer, loop overhead.
class TrainingStep {
 public:
  explicit TrainingStep(Process& process);
  /// With batches from elsewhere than the request says. `shards`: sizes of the tensors that zero_grad,
  /// clipping and the optimizer walk over; empty: all parameters.
  TrainingStep(Process& process, InputPipeline input, std::vector<std::int64_t> shards = {});

  /// Called on the autograd thread when a parameter's gradient has been launched (its index in
  /// ExpandedModel::parameters).
  using GradientHook = std::function<void(std::uint32_t parameter)>;

  void load_batch() { input_.load_batch(); }
  void zero_gradients();
  void forward();
  /// forward() and backward() in pieces, for strategies that spread a pass over several GPUs; each on the
  /// threads and stream in use.
  void begin_forward() { launches_.begin_forward(); }
  void forward_operator(const Operator& op, std::int64_t batch);
  void end_forward();
  void begin_backward();
  void backward_operator(const BackwardStep& step, std::int64_t batch);
  /// The gradient of a parameter is there: `adds` it to one that exists already.
  void finish_gradient(QueueId thread, std::uint32_t parameter, bool adds);
  /// Whether zero_grad keeps the gradients' memory, so that each is added to zeros.
  bool keeps_gradients() const;
  /// `accumulating`: the gradient is added to one that exists already.
  void backward(bool accumulating, const GradientHook& hook);
  /// GradScaler's check in amp_fp16, clipping, then the optimizer; returns the last kernel of the step.
  TaskId optimize() { return noise_.after_backward(), update_.apply(); }
  /// `loss.item()` and metrics after the step, and the loop's own overhead.
  void finish_step();

 private:
  void cast_weights(QueueId thread, std::uint32_t layer, Time reference);
  void record_losses();
  void read_loss(bool before_backward);
  void explain();

  Process& process_;
  InputPipeline input_;
  StepLaunches launches_;
  GradientUpdate update_;
  GradientNoise noise_;
  const Workload& workload_;
  const ExpandedModel& model_;
  std::vector<LabelId> labels_;              ///< per layer
  std::vector<std::int64_t> cast_elements_;  ///< per layer: weights that autocast converts
  std::vector<bool> penalised_;              ///< per parameter: TensorFlow adds its L2 term to the loss
  LabelId optimizer_label_, gradient_label_, metrics_label_;
  int step_ = 0;
};

}  // namespace foretrain
