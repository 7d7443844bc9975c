// Operations over all gradients: packed in multi-tensor launches by PyTorch since 2.0 and by the GradScaler,
// else tensor by tensor.
#include <cmath>
#include <utility>

#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

constexpr Bytes kScalar{8};
/// Of an fp32 gradient's element: its norm reads it, scaling also writes it.
constexpr std::int64_t kNormBytes = kFloatBytes, kScaleBytes = 2 * kFloatBytes;
constexpr int kClipKernels = 5;  ///< stack, norm, add, divide, clamp

std::vector<std::int64_t> tensor_sizes(const ExpandedModel& model) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

/// Adam's launches where an optimizer leaves something to it, and its own passes behind them.
std::vector<OptimizerLaunch> launches_of_step(const Optimizer& optimizer, const MatrixStep& matrices,
                                              const std::vector<std::int64_t>& tensors, double width) {
  if (!works_on_matrices(optimizer.kind)) return optimizer_launches(optimizer, tensors, width);
  std::vector<OptimizerLaunch> launches = optimizer_launches(optimizer, matrices.adam, width);
  launches.insert(launches.end(), matrices.passes.begin(), matrices.passes.end());
  return launches;
}

}  // namespace

GradientUpdate::GradientUpdate(Process& process, StepLaunches& launches, std::vector<std::int64_t> tensors)
    : process_(process),
      launches_(launches),
      workload_(process.request().workload),
      tensors_(tensors.empty() ? tensor_sizes(*workload_.model) : std::move(tensors)),
      width_(updated_width(workload_)),
      matrices_(works_on_matrices(workload_.optimizer.kind)
                    ? matrix_step(workload_.optimizer, *workload_.model)
                    : MatrixStep{}),
      optimizer_launches_(
          counted_launches(launches_of_step(workload_.optimizer, matrices_, tensors_, width_))),
      optimizer_label_(process.graph().label("optimizer")),
      clip_label_(process.graph().label("clip_grad_norm")) {}

bool GradientUpdate::scales() const { return workload_.precision == Precision::amp_fp16; }

Bytes GradientUpdate::own_bytes(std::int64_t elements, std::int64_t bytes_per_element) const {
  return {std::llround(width_ * static_cast<double>(bytes_per_element * elements))};
}

void GradientUpdate::each_tensor(const HostThread& thread, std::int64_t bytes_per_element, Time reference) {
  for (const std::int64_t elements : tensors_) {
    launches_.kernel(thread, own_bytes(elements, bytes_per_element), reference, Account::optimizer,
                     clip_label_);
  }
}

void GradientUpdate::packed(const HostThread& thread, std::int64_t bytes_per_element, Time reference) {
  std::vector<OptimizerLaunch> launches;
  for (const std::int64_t elements : packed_elements(tensors_, 1))
    launches.push_back({.bytes = own_bytes(elements, bytes_per_element), .host = reference});
  for (const OptimizerLaunch& launch : counted_launches(std::move(launches)))
    launches_.kernels(thread, launch, Account::optimizer, clip_label_);
}

void GradientUpdate::small_kernels(const HostThread& thread, int count, Time reference) {
  for (int i = 0; i < count; ++i)
    launches_.kernel(thread, kScalar, reference, Account::optimizer, clip_label_);
}

void GradientUpdate::scale_loss(const HostThread& thread) {
  if (scales()) small_kernels(thread, 1, process_.calls().scalar);
}

/// Unscale and look for infinities (read and write every gradient), then the script reads the flag:
/// `.item()`.
void GradientUpdate::check_gradients(const HostThread& thread) {
  if (!scales()) return;
  if (launches_.profile().unscales_packed) {
    packed(thread, kScaleBytes, process_.calls().unscale);
  } else {
    each_tensor(thread, kScaleBytes, process_.calls().scalar);
    each_tensor(thread, kNormBytes, process_.calls().scalar);
  }
  process_.synchronize(thread);
}

/// A norm for each gradient, the norm of the norms, the factor, and every gradient times it.
void GradientUpdate::clip_norm(const HostThread& thread) {
  const GradientClipping clipping = workload_.loop.clip_grad_norm;
  if (clipping == GradientClipping::none) return;
  const bool multi_tensor = packs_by_default(workload_.framework);
  multi_tensor ? packed(thread, kNormBytes, process_.calls().scalar)
               : each_tensor(thread, kNormBytes, process_.calls().scalar);
  small_kernels(thread, kClipKernels, process_.calls().scalar);
  multi_tensor ? packed(thread, kScaleBytes, process_.calls().scalar)
               : each_tensor(thread, kScaleBytes, process_.calls().scalar);
  if (clipping == GradientClipping::read_back) process_.synchronize(thread);
}

/// Muon multiplies in bf16, GaLore in the parameters' width, Shampoo in fp32. Decompositions of every
/// update_gap-th step are spread over all steps.
TaskId GradientUpdate::multiply_matrices(const HostThread& thread) {
  const OptimizerKind kind = workload_.optimizer.kind;
  const bool is_half = kind == OptimizerKind::muon || (kind != OptimizerKind::shampoo && width_ < 1);
  const KernelContext context{process_.gpu(), process_.kernels(), is_half ? Precision::bf16 : Precision::fp32,
                              workload_.framework, is_half};
  const Time host = process_.on_this_host(process_.host_costs().launch + process_.calls().eager_operator);
  TaskId last = process_.last_kernel();
  for (const MatrixProducts& products : matrices_.products)
    last =
        process_.launch(thread, host * products.count, kernel_time(products.op, context, 1) * products.count,
                        Account::optimizer, optimizer_label_);
  if (matrices_.decomposition_flops > 0)
    last = process_.launch(
        thread, host,
        seconds(matrices_.decomposition_flops / (kDecompositionShare * process_.gpu().fp32.per_second)),
        Account::optimizer, optimizer_label_);
  return last;
}

TaskId GradientUpdate::optimize(const HostThread& thread) {
  TaskId last = multiply_matrices(thread);
  for (const OptimizerLaunch& launch : optimizer_launches_) {
    last = launches_.kernels(thread, launch, Account::optimizer, optimizer_label_);
  }
  return last;
}

TaskId GradientUpdate::apply(const HostThread& thread) {
  check_gradients(thread);
  clip_norm(thread);
  TaskId last = optimize(thread);
  if (scales()) small_kernels(thread, 1, process_.calls().scalar), last = process_.last_kernel();
  return last;
}

}  // namespace foretrain
