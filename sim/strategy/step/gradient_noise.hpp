// What AdaptDL's trainer computes besides: the noise of the gradients, by which it chooses batch sizes.
#pragma once

#include "sim/strategy/step/step_launches.hpp"

namespace foretrain {

/// Issues nothing unless loop.hooks is gradient_noise. Kernels counted in AdaptDL's
/// torch/gradient_noise_scale.py; each is a call of its own for every parameter tensor (docs/models/step.md).
class GradientNoise {
 public:
  GradientNoise(Process& process, StepLaunches& launches);

  /// In backward, when a gradient is there: its square, the sum in double precision, its place in the running
  /// sum (add, store).
  void on_gradient(QueueId thread, std::uint32_t parameter);
  /// Behind backward and the reduction of gradients, before they are used.
  void after_backward();

 private:
  void small_kernel(QueueId thread, std::int64_t bytes);
  void scale_gradients();
  void sum_squares();
  void compare_with_last_step();

  Process& process_;
  StepLaunches& launches_;
  const ExpandedModel& model_;
  bool measures_;
  LabelId label_;
};

}  // namespace foretrain
