// With one rank the noise is estimated from this step's gradients and the last one's, which are kept; with
// several from the ranks' own.
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kReadWrite = 8;  ///< bytes of an element read and written
constexpr std::int64_t kRead = 4;
constexpr std::int64_t kDoubleReadWrite = 16;  ///< bytes of a double read and written

}  // namespace

GradientNoise::GradientNoise(Process& process, StepLaunches& launches)
    : process_(process),
      launches_(launches),
      model_(*process.request().workload.model),
      measures_(process.request().workload.loop.hooks == LoopHooks::gradient_noise),
      label_(process.graph().label("gradient noise")) {}

void GradientNoise::small_kernel(const HostThread& thread, std::int64_t bytes) {
  launches_.kernel(thread, {bytes}, process_.calls().scalar, Account::other, label_);
}

void GradientNoise::on_gradient(const HostThread& thread, std::uint32_t parameter) {
  if (!measures_) return;
  const std::int64_t elements = model_.parameters[parameter].elements;
  small_kernel(thread, kReadWrite * elements);
  small_kernel(thread, kRead * elements);
  small_kernel(thread, kDoubleReadWrite);
  small_kernel(thread, kDoubleReadWrite);
}

/// By the scale of mixed precision and by the number of micro-steps, into new tensors.
void GradientNoise::scale_gradients(const HostThread& thread) {
  for (const Parameter& parameter : model_.parameters) {
    small_kernel(thread, kReadWrite * parameter.elements);
    small_kernel(thread, kReadWrite * parameter.elements);
  }
}

/// Of every tensor, added up one after the other and read by the script.
void GradientNoise::sum_squares(const HostThread& thread) {
  for (const Parameter& parameter : model_.parameters) {
    small_kernel(thread, kReadWrite * parameter.elements);
    small_kernel(thread, kRead * parameter.elements);
  }
  for (std::size_t i = 0; i < model_.parameters.size(); ++i) small_kernel(thread, kDoubleReadWrite);
  process_.synchronize(thread);
}

/// The squares of the last step's gradients, the mean of both and its squares, then a copy for the next step.
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
  const bool several = process_.request().placement.size() > 1;
  if (several)
    process_.stream_waits_for(
        process_.collective(thread, CollectiveOp::all_reduce, {kDoubleReadWrite / 2}, label_));
  scale_gradients(thread);
  sum_squares(thread);
  several ? static_cast<void>(process_.synchronize(thread)) : compare_with_last_step(thread);
}

}  // namespace foretrain
