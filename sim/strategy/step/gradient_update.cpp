// Operations over all gradients: packed in multi-tensor launches by PyTorch since 2.0 and by the GradScaler,
// else tensor by tensor.
#include "sim/strategy/step/gradient_update.hpp"

#include <utility>

namespace foretrain {

namespace {

constexpr Bytes kScalar{8};

std::vector<std::int64_t> tensor_sizes(const ExpandedModel& model) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

}  // namespace

GradientUpdate::GradientUpdate(Process& process, StepLaunches& launches, std::vector<std::int64_t> tensors)
    : process_(process),
      launches_(launches),
      workload_(process.request().workload),
      tensors_(tensors.empty() ? tensor_sizes(*workload_.model) : std::move(tensors)),
      optimizer_launches_(optimizer_launches(workload_.optimizer, tensors_)),
      optimizer_label_(process.graph().label("optimizer")),
      clip_label_(process.graph().label("clip_grad_norm")) {}

bool GradientUpdate::scales() const { return workload_.precision == Precision::amp_fp16; }

void GradientUpdate::each_tensor(std::int64_t bytes_per_element, Time reference) {
  for (const std::int64_t elements : tensors_) {
    launches_.kernel(process_.main_thread, {bytes_per_element * elements}, reference, Account::optimizer,
                     clip_label_);
  }
}

void GradientUpdate::packed(std::int64_t bytes_per_element, Time reference) {
  for (const std::int64_t elements : packed_elements(tensors_, 1)) {
    launches_.kernel(process_.main_thread, {bytes_per_element * elements}, reference, Account::optimizer,
                     clip_label_);
  }
}

void GradientUpdate::small_kernels(int count, Time reference) {
  for (int i = 0; i < count; ++i)
    launches_.kernel(process_.main_thread, kScalar, reference, Account::optimizer, clip_label_);
}

void GradientUpdate::scale_loss() {
  if (scales()) small_kernels(1, process_.calls().scalar);
}

/// Unscale and look for infinities (read and write every gradient), then the script reads the flag:
/// `.item()`.
void GradientUpdate::check_gradients() {
  if (!scales()) return;
  if (launches_.is_tensorflow()) {
    each_tensor(8, process_.calls().scalar);
    each_tensor(4, process_.calls().scalar);
  } else {
    packed(8, process_.calls().unscale);
  }
  process_.synchronize(process_.main_thread);
}

/// A norm for each gradient, the norm of the norms, the factor, and every gradient times it.
void GradientUpdate::clip_norm() {
  const GradientClipping clipping = workload_.loop.clip_grad_norm;
  if (clipping == GradientClipping::none) return;
  const Framework& framework = workload_.framework;
  const bool multi_tensor =
      framework.kind == FrameworkKind::pytorch && framework.version >= FrameworkVersion{2, 0};
  multi_tensor ? packed(4, process_.calls().scalar) : each_tensor(4, process_.calls().scalar);
  small_kernels(5, process_.calls().scalar);  // stack, norm, add, divide, clamp
  multi_tensor ? packed(8, process_.calls().scalar) : each_tensor(8, process_.calls().scalar);
  if (clipping == GradientClipping::read_back) process_.synchronize(process_.main_thread);
}

TaskId GradientUpdate::optimize() {
  TaskId last = process_.last_kernel();
  for (const OptimizerLaunch& launch : optimizer_launches_) {
    last = launches_.kernel(process_.main_thread, launch.bytes, launch.host, Account::optimizer,
                            optimizer_label_);
  }
  return last;
}

TaskId GradientUpdate::apply() {
  check_gradients();
  clip_norm();
  TaskId last = optimize();
  if (scales()) small_kernels(1, process_.calls().scalar), last = process_.last_kernel();
  return last;
}

}  // namespace foretrain
