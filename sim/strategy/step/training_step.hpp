// The parts of a training step every strategy shares: batch, forward, loss, backward, optimizer, as the
// script issues them.
#pragma once

#include <functional>
#include <vector>

#include "sim/strategy/process/input_pipeline.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/step/activation_copies.hpp"
#include "sim/strategy/step/step_launches.hpp"
#include "sim/workload/lowering/matrix_optimizer.hpp"

namespace foretrain {

// From gradients to new weights: the GradScaler's check, clipping, the optimizer, master weights.

/// Everything between the end of backward and the next step. Order: scaler's check, clipping, optimizer,
/// scaler's update.
class GradientUpdate {
 public:
  /// `tensors`: sizes of what is updated (shards); empty: every parameter.
  GradientUpdate(Process& process, StepLaunches& launches, std::vector<std::int64_t> tensors = {});

  /// The scaler multiplies the loss; nothing but in amp_fp16.
  void scale_loss(const HostThread& thread);
  /// Returns the last kernel.
  TaskId apply(const HostThread& thread);
  const std::vector<std::int64_t>& tensors() const { return tensors_; }
  /// Of so many elements, which have so many bytes in fp32.
  Bytes own_bytes(std::int64_t elements, std::int64_t bytes_per_element) const;

 private:
  void check_gradients(const HostThread& thread);
  void clip_norm(const HostThread& thread);
  void each_tensor(const HostThread& thread, std::int64_t bytes_per_element, Time reference);
  void packed(const HostThread& thread, std::int64_t bytes_per_element, Time reference);
  void small_kernels(const HostThread& thread, int count, Time reference);
  TaskId optimize(const HostThread& thread);
  bool scales() const;
  TaskId multiply_matrices(const HostThread& thread);

  Process& process_;
  StepLaunches& launches_;
  const Workload& workload_;
  std::vector<std::int64_t> tensors_;  ///< elements of each parameter or shard
  double width_;                       ///< of an element's bytes, over those of fp32
  MatrixStep matrices_;                ///< of optimizers that work on matrices
  std::vector<OptimizerLaunch> optimizer_launches_;
  LabelId optimizer_label_, clip_label_;
};

// What AdaptDL's trainer computes besides: the noise of the gradients, by which it chooses batch sizes.

/// Issues nothing unless loop.hooks is gradient_noise. Kernels counted in AdaptDL's
/// torch/gradient_noise_scale.py; each is a call of its own for every parameter tensor (docs/models/step.md).
class GradientNoise {
 public:
  GradientNoise(Process& process, StepLaunches& launches);

  /// In backward, when a gradient is there: its square, the sum in double precision, its place in the running
  /// sum (add, store).
  void on_gradient(const HostThread& thread, std::uint32_t parameter);
  /// Behind backward and the reduction of gradients, before they are used.
  void after_backward(const HostThread& thread);

 private:
  void small_kernel(const HostThread& thread, std::int64_t bytes);
  void scale_gradients(const HostThread& thread);
  void sum_squares(const HostThread& thread);
  void compare_with_last_step(const HostThread& thread);

  Process& process_;
  StepLaunches& launches_;
  const ExpandedModel& model_;
  bool measures_;
  LabelId label_;
};

/// Who issues what of a step; elsewhere the process's main thread does.
struct StepThreads {
  explicit StepThreads(const Process& process)
      : forward(process.main_thread()), backward(process.autograd_thread()), update(process.main_thread()) {}
  HostThread forward, backward;  ///< passes, with the losses
  HostThread update;             ///< from gradients to new weights
};

/// Issues the steps of one process. Order of one step (docs/models/step.md): next batch, copy to the GPU,
/// zero_grad, forward, loss.item() if it stands there, backward, GradScaler, optimizer, loop overhead.
class TrainingStep {
 public:
  explicit TrainingStep(Process& process);
  /// With batches from elsewhere than the request says. `shards`: sizes of the tensors that zero_grad,
  /// clipping and the optimizer walk over; empty: all parameters.
  TrainingStep(Process& process, InputPipeline input, std::vector<std::int64_t> shards = {});
  /// By other threads than usual.
  TrainingStep(Process& process, InputPipeline input, const StepThreads& threads)
      : TrainingStep(process, std::move(input)) {
    threads_ = threads;
  }

  /// Called on the autograd thread when a parameter's gradient has been launched (its index in
  /// ExpandedModel::parameters).
  using GradientHook = std::function<void(std::uint32_t parameter)>;

  void load_batch() { process_.enter(StepPass::forward), input_.load_batch(); }
  void zero_gradients();
  void forward();
  /// forward() and backward() in pieces, for strategies that put something between operators or spread a pass
  /// over several GPUs.
  void begin_forward() { launches_.begin_forward(threads_.forward); }
  void forward_operator(const HostThread& thread, const Operator& op, std::int64_t batch);
  void end_forward();
  void begin_backward();
  void backward_operator(const HostThread& thread, const BackwardStep& step, std::int64_t batch);
  /// The gradient of a parameter is there: `adds` it to one that exists already.
  void finish_gradient(const HostThread& thread, std::uint32_t parameter, bool adds);
  /// Whether zero_grad keeps the gradients' memory, so that each is added to zeros.
  bool keeps_gradients() const;
  /// `accumulating`: the gradient is added to one that exists already.
  void backward(bool accumulating, const GradientHook& hook);
  /// GradScaler's check in amp_fp16, clipping, then the optimizer; returns the last kernel of the step.
  TaskId optimize() {
    process_.enter(StepPass::optimizer);
    return noise_.after_backward(threads_.update), update_.apply(threads_.update);
  }
  /// `loss.item()` and metrics after the step, and the loop's own overhead.
  void finish_step();
  /// Nothing is kept for a backward pass.
  void keep_no_activations() { copies_.stop(); }

 private:
  void cast_weights(const HostThread& thread, std::uint32_t layer, Time reference);
  void record_losses();
  void read_loss(const HostThread& thread, bool before_backward);
  void explain();

  Process& process_;
  InputPipeline input_;
  StepThreads threads_;
  StepLaunches launches_;
  GradientUpdate update_;
  GradientNoise noise_;
  ActivationCopies copies_;
  const Workload& workload_;
  const ExpandedModel& model_;
  std::vector<LabelId> labels_;              ///< per layer
  std::vector<std::int64_t> cast_elements_;  ///< per layer: weights that autocast converts
  std::vector<bool> penalised_;              ///< per parameter: TensorFlow adds its L2 term to the loss
  LabelId optimizer_label_, gradient_label_, metrics_label_;
  int step_ = 0;
};

}  // namespace foretrain
