// The estimate of the gradient noise scale, as AdaptDL computes it. One rank compares this step's gradients
// with those of the last step, which it keeps. Several ranks compare their own gradients with the mean.
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

/// Bytes of one fp32 element that a kernel reads and writes.
constexpr std::int64_t kReadWrite = 8;
/// Bytes of one fp32 element that a kernel reads only.
constexpr std::int64_t kRead = 4;
/// Bytes of one double that a kernel reads and writes.
constexpr std::int64_t kDoubleReadWrite = 16;

}  // namespace

GradientNoise::GradientNoise(Process& process, StepLaunches& launches)
    : process_(process),
      launches_(launches),
      model_(*process.request().workload.model),
      measures_(process.request().workload.loop.hooks == LoopHooks::gradient_noise),
      label_(process.graph().label("gradient noise")) {}

/// Launches one kernel that moves `bytes`, by a Python call on a scalar or small tensor.
void GradientNoise::small_kernel(const HostThread& thread, std::int64_t bytes) {
  launches_.kernel(thread, {bytes}, process_.calls().scalar, Account::other, label_);
}

/// Four kernels for each parameter: the square, its sum, the addition to the running sum, and the store.
void GradientNoise::on_gradient(const HostThread& thread, std::uint32_t parameter) {
  if (!measures_) return;
  const std::int64_t elements = model_.parameters[parameter].elements;
  small_kernel(thread, kReadWrite * elements);
  small_kernel(thread, kRead * elements);
  small_kernel(thread, kDoubleReadWrite);
  small_kernel(thread, kDoubleReadWrite);
}

/// Divides all gradients by the scale of mixed precision, then by the number of micro-steps, each time into
/// new tensors.
void GradientNoise::scale_gradients(const HostThread& thread) {
  for (const Parameter& parameter : model_.parameters) {
    small_kernel(thread, kReadWrite * parameter.elements);
    small_kernel(thread, kReadWrite * parameter.elements);
  }
}

/// Computes the sum of squares of every tensor, adds them up one after the other, and reads the result on the
/// host.
void GradientNoise::sum_squares(const HostThread& thread) {
  for (const Parameter& parameter : model_.parameters) {
    small_kernel(thread, kReadWrite * parameter.elements);
    small_kernel(thread, kRead * parameter.elements);
  }
  for (std::size_t i = 0; i < model_.parameters.size(); ++i) small_kernel(thread, kDoubleReadWrite);
  process_.synchronize(thread);
}

/// One rank's comparison: the squares of the last step's gradients, the mean of both steps and its squares,
/// then a copy of the gradients for the next step.
void GradientNoise::compare_with_last_step(const HostThread& thread) {
  sum_squares(thread);
  for (const Parameter& parameter : model_.parameters) {
    small_kernel(thread, (kReadWrite + kRead) * parameter.elements);
    small_kernel(thread, kReadWrite * parameter.elements);
  }
  sum_squares(thread);
  for (const Parameter& parameter : model_.parameters) small_kernel(thread, kReadWrite * parameter.elements);
}

void GradientNoise::after_backward(const HostThread& thread) {
  if (!measures_) return;
  // The ranks' sums of squares are added up first, by an all-reduce of one double.
  const bool several = process_.request().placement.size() > 1;
  if (several)
    process_.stream_waits_for(
        process_.collective(thread, CollectiveOp::all_reduce, {kDoubleReadWrite / 2}, label_));
  scale_gradients(thread);
  sum_squares(thread);
  // Several ranks need no comparison in time: the host only waits for the result.
  several ? static_cast<void>(process_.synchronize(thread)) : compare_with_last_step(thread);
}

}  // namespace foretrain
