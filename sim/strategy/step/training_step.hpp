// The parts of a training step that every strategy shares: batch, forward, loss, backward, optimizer, in the
// order in which the script issues them.
#pragma once

#include <functional>
#include <vector>

#include "sim/strategy/process/input_pipeline.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/step/activation_copies.hpp"
#include "sim/strategy/step/step_launches.hpp"
#include "sim/workload/lowering/matrix_optimizer.hpp"

namespace foretrain {

// The path from gradients to new weights: the GradScaler's check, clipping, the optimizer, master weights.

/// Issues everything between the end of backward and the next step. Order: check of the scaler, clipping,
/// optimizer, update of the scaler.
class GradientUpdate {
 public:
  /// `tensors`: elements of each tensor that is updated, such as shards. Empty: every trained parameter.
  GradientUpdate(Process& process, StepLaunches& launches, std::vector<std::int64_t> tensors = {});

  /// Multiplies the loss by the scale. Does nothing unless the precision is amp_fp16.
  void scale_loss(const HostThread& thread);
  /// Issues the whole update and returns its last kernel.
  TaskId apply(const HostThread& thread);
  const std::vector<std::int64_t>& tensors() const { return tensors_; }
  /// Returns the bytes of `elements` in the update's width, where each would have `bytes_per_element` in
  /// fp32.
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
  /// Elements of each parameter or shard.
  std::vector<std::int64_t> tensors_;
  /// Bytes of an updated element, divided by those of fp32.
  double width_;
  /// Work of an optimizer that works on matrices; empty for others.
  MatrixStep matrices_;
  std::vector<OptimizerLaunch> optimizer_launches_;
  LabelId optimizer_label_, clip_label_;
};

// AdaptDL's trainer also computes the noise of the gradients, by which it chooses batch sizes.

/// Issues the kernels of the gradient noise scale, if loop.hooks is gradient_noise, else nothing. The kernels
/// are counted in AdaptDL's torch/gradient_noise_scale.py. Each is a call of its own for every parameter
/// tensor (docs/models/step.md).
class GradientNoise {
 public:
  GradientNoise(Process& process, StepLaunches& launches);

  /// Called in backward when a gradient is complete. Issues its square, the sum in double precision, and its
  /// addition to the running sum (add, store).
  void on_gradient(const HostThread& thread, std::uint32_t parameter);
  /// Called after backward and the reduction of gradients, before the gradients are used.
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

/// The threads that issue the parts of a step. By default the main thread issues all but the backward pass.
struct StepThreads {
  explicit StepThreads(const Process& process)
      : forward(process.main_thread()), backward(process.autograd_thread()), update(process.main_thread()) {}
  /// Passes, with the losses.
  HostThread forward, backward;
  /// Thread of the calls that turn gradients into new weights.
  HostThread update;
};

/// Issues the steps of one process. Order of one step (docs/models/step.md): next batch, copy to the GPU,
/// zero_grad, forward, loss.item() if the script reads it there, backward, GradScaler, optimizer, loop
/// overhead. The process and its request must outlive it.
class TrainingStep {
 public:
  explicit TrainingStep(Process& process);
  /// Takes batches from `input` instead of the request's own pipeline. `shards`: elements of the tensors that
  /// zero_grad, clipping and the optimizer process; empty: all parameters.
  TrainingStep(Process& process, InputPipeline input, std::vector<std::int64_t> shards = {});
  /// As above, with the parts of a step issued by `threads`.
  TrainingStep(Process& process, InputPipeline input, const StepThreads& threads)
      : TrainingStep(process, std::move(input)) {
    threads_ = threads;
  }

  /// Called on the autograd thread when a parameter's gradient was launched. The argument is the index in
  /// ExpandedModel::parameters.
  using GradientHook = std::function<void(std::uint32_t parameter)>;

  /// Issues the input pipeline's work for the next batch.
  void load_batch() { process_.enter(StepPass::forward), input_.load_batch(); }
  /// Issues optimizer.zero_grad(): frees the gradients or fills them with zeros, as the loop states.
  void zero_gradients();
  /// Issues the whole forward pass with the loss.
  void forward();
  /// Pieces of forward() and backward(), for strategies that add work between operators or spread a pass over
  /// several GPUs.
  void begin_forward() { launches_.begin_forward(threads_.forward); }
  void forward_operator(const HostThread& thread, const Operator& op, std::int64_t batch);
  void end_forward();
  void begin_backward();
  void backward_operator(const HostThread& thread, const BackwardStep& step, std::int64_t batch);
  /// Ends the computation of one parameter's gradient. `adds`: it is added to a gradient that exists already,
  /// by one more kernel.
  void finish_gradient(const HostThread& thread, std::uint32_t parameter, bool adds);
  /// Returns whether zero_grad keeps the gradients' memory, so that each new gradient is added to zeros.
  bool keeps_gradients() const;
  /// Issues the backward pass and calls `hook`, which may be empty, for every gradient in the order of
  /// launches. `accumulating`: each gradient is added to one that exists already.
  void backward(bool accumulating, const GradientHook& hook);
  /// Issues GradScaler's check in amp_fp16, clipping and the optimizer. Returns the last kernel of the step.
  TaskId optimize() {
    process_.enter(StepPass::optimizer);
    return noise_.after_backward(threads_.update), update_.apply(threads_.update);
  }
  /// Issues `loss.item()` and metrics after the step, and the loop's own overhead.
  void finish_step();
  /// Ends the offload of activations, for passes without a backward.
  void keep_no_activations() { copies_.stop(); }

 private:
  /// Issues the conversion of a layer's weights to 16 bits, if autocast converts them.
  void cast_weights(const HostThread& thread, std::uint32_t layer, Time reference);
  void record_losses();
  void read_loss(const HostThread& thread, bool before_backward);
  /// Adds decisions on TF32 and the execution mode to the process, where they are not the obvious ones.
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
  /// Label of each layer.
  std::vector<LabelId> labels_;
  /// Elements of the weights that autocast converts to 16 bits, by layer.
  std::vector<std::int64_t> cast_elements_;
  /// True if TensorFlow adds an L2 term to the loss, by parameter.
  std::vector<bool> penalised_;
  LabelId optimizer_label_, gradient_label_, metrics_label_;
  int step_ = 0;
};

}  // namespace foretrain
