// The update: the calls that turn gradients into new weights. Operations over all gradients are packed in
// multi-tensor launches by PyTorch since 2.0 and by the GradScaler; otherwise each tensor has a launch of its
// own.
#include <cmath>
#include <utility>

#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

/// Bytes that a kernel over one scalar moves.
constexpr Bytes kScalar{8};
/// Bytes per element of an fp32 gradient. The norm reads it; scaling reads and writes it.
constexpr std::int64_t kNormBytes = kFloatBytes, kScaleBytes = 2 * kFloatBytes;
/// Small kernels of clipping: stack, norm, add, divide, clamp.
constexpr int kClipKernels = 5;

/// Returns the number of elements of each trained parameter.
std::vector<std::int64_t> tensor_sizes(const ExpandedModel& model) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

/// Returns the optimizer's element-wise launches. For an optimizer on matrices these are Adam's launches for
/// the tensors that it leaves to Adam, then its own passes.
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

/// `width_` is below 1 where gradients and weights have 16 bits.
Bytes GradientUpdate::own_bytes(std::int64_t elements, std::int64_t bytes_per_element) const {
  return {std::llround(width_ * static_cast<double>(bytes_per_element * elements))};
}

/// Launches one kernel for each tensor; `reference` is the host cost of each call.
void GradientUpdate::each_tensor(const HostThread& thread, std::int64_t bytes_per_element, Time reference) {
  for (const std::int64_t elements : tensors_) {
    launches_.kernel(thread, own_bytes(elements, bytes_per_element), reference, Account::optimizer,
                     clip_label_);
  }
}

/// Launches multi-tensor kernels, each over as many tensors as one launch takes.
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

/// Divides every gradient by the scale and looks for infinities, which reads and writes each of them. Then
/// the host reads the flag, as `.item()` does, and waits for the GPU.
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

/// Computes the norm of each gradient, the norm of these norms and the factor, then multiplies every gradient
/// by it. PyTorch since 2.0 packs both passes over the gradients.
void GradientUpdate::clip_norm(const HostThread& thread) {
  const GradientClipping clipping = workload_.loop.clip_grad_norm;
  if (clipping == GradientClipping::none) return;
  const bool multi_tensor = packs_by_default(workload_.framework);
  multi_tensor ? packed(thread, kNormBytes, process_.calls().scalar)
               : each_tensor(thread, kNormBytes, process_.calls().scalar);
  small_kernels(thread, kClipKernels, process_.calls().scalar);
  multi_tensor ? packed(thread, kScaleBytes, process_.calls().scalar)
               : each_tensor(thread, kScaleBytes, process_.calls().scalar);
  // Some scripts read the norm on the host, which waits for the GPU.
  if (clipping == GradientClipping::read_back) process_.synchronize(thread);
}

/// Issues the matrix products and decompositions of the optimizer and returns the last kernel. Muon
/// multiplies in bf16, GaLore in the width of the parameters, Shampoo in fp32. An optimizer decomposes at
/// every update_gap-th step; the plan spreads that cost over all steps.
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

/// Matrix work comes first, because the element-wise passes use its results.
TaskId GradientUpdate::optimize(const HostThread& thread) {
  TaskId last = multiply_matrices(thread);
  for (const OptimizerLaunch& launch : optimizer_launches_) {
    last = launches_.kernels(thread, launch, Account::optimizer, optimizer_label_);
  }
  return last;
}

/// The order is that of a script with a GradScaler: unscale and check, clip, step, update the scale.
TaskId GradientUpdate::apply(const HostThread& thread) {
  check_gradients(thread);
  clip_norm(thread);
  TaskId last = optimize(thread);
  if (scales()) small_kernels(thread, 1, process_.calls().scalar), last = process_.last_kernel();
  return last;
}

}  // namespace foretrain
