// Memory of one GPU in training: what stays for the whole step plus the larger of two transient peaks.
//
// The peak is reached either around the turn from forward to backward, when most activations are kept, or in
// the optimizer step (foreach temporaries), never both.
#include "sim/workload/device/memory.hpp"

#include <algorithm>

#include "sim/base/largest_holding.hpp"
#include "sim/workload/device/framework_memory.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {
namespace {

/// CUDA context with the kernels of cuBLAS and cuDNN and their handles' workspaces; AMD's are assumed to be
/// as large as those of their years. Recalled ranges (docs/models/memory.md).
double context_bytes(Architecture architecture) {
  switch (architecture) {
    case Architecture::cpu:
      return 0;
    case Architecture::kepler:
      return 300e6;
    case Architecture::pascal:
      return 400e6;
    case Architecture::volta:
    case Architecture::turing:
    case Architecture::ampere:
    case Architecture::ada:
    case Architecture::cdna:
    case Architecture::cdna2:
      return 600e6;
    case Architecture::hopper:
    case Architecture::cdna3:
      return 700e6;
    case Architecture::blackwell:
      return 800e6;
  }
  return 0;
}

/// NCCL's buffers and kernels; recalled as well.
constexpr double kNcclBytes = 350e6;
/// Scratch memory of the convolution algorithms that cuDNN's benchmark chooses: some times what the largest
/// convolution reads and writes, up to a limit beyond which it finds no faster one; and the holes that
/// scratch blocks leave between tensors of many sizes, by activations. Fitted to the largest batches of
/// ResNet-50 on cards of 16 to 48 GB (docs/models/memory.md).
constexpr double kScratchPerByte = 8, kMostScratch = 2.6e9, kMostScratchHalf = 2.25e9, kScratchHoles = 0.052;
constexpr std::int64_t kTwoStates = 8;             ///< bytes per element: foreach keeps a temporary for each
constexpr double kMostBytes = 1e17;                // seven of them still fit
constexpr std::int64_t kLargestBatch = 1'000'000;  ///< that may be asked for (model.batch_per_gpu)

Bytes whole(double bytes) { return {static_cast<std::int64_t>(std::clamp(bytes, 0.0, kMostBytes))}; }

/// Adam's denominators; until PyTorch 2.1 its step sizes' quotients, too. One set was measured with 2.11
/// (docs/measured/h100).
double foreach_temporaries(const Workload& workload, double parameter_bytes) {
  const Optimizer& optimizer = workload.optimizer;
  if (optimizer.form != OptimizerForm::foreach) return 0;
  constexpr FrameworkVersion kOneSet{2, 1};
  const double sets = workload.framework.version < kOneSet ? 2 : 1;
  if (state_bytes_per_element(optimizer) >= kTwoStates) return sets * parameter_bytes;
  return optimizer.weight_decay ? parameter_bytes : 0;
}

double buffer_bytes(const ExpandedModel& model) {
  double sum = 0;
  for (const Buffer& buffer : model.buffers)
    sum += static_cast<double>(buffer.elements) * static_cast<double>(buffer.element_bytes);
  return sum;
}

/// Elements of the weights of matrix products: autocast keeps a 16-bit copy of each for the step.
double product_weights(const ExpandedModel& model) {
  std::vector<bool> multiplies(model.layer_names.size(), false);
  for (const Operator& op : model.forward) {
    if (op.product_count > 0 && op.layer < multiplies.size()) multiplies[op.layer] = true;
  }
  double sum = 0;
  for (const std::vector<Parameter>* parameters : {&model.parameters, &model.frozen}) {
    for (const Parameter& parameter : *parameters) {
      if (parameter.layer < multiplies.size() && multiplies[parameter.layer])
        sum += static_cast<double>(parameter.elements);
    }
  }
  return sum;
}

constexpr double kFull = 4, kHalf = 2;  ///< bytes of an element in fp32 and in 16 bit

/// What all parameters of a network take before a strategy divides it.
struct ParameterBytes {
  double weights = 0, gradients = 0, optimizer = 0, updated = 0;  ///< `updated`: what the optimizer steps on
};

/// Those that are not packed have 16 bits.
double frozen_half_bytes(const ExpandedModel& model) {
  double sum = 0;
  for (const Parameter& parameter : model.frozen)
    sum += is_quantised(parameter.packed) ? static_cast<double>(parameter.bytes())
                                          : kHalf * static_cast<double>(parameter.elements);
  return sum;
}

/// Weights have their own types, gradients and states those of their weights; beside weights that
/// half_weights makes narrow lie masters and states in fp32.
ParameterBytes parameter_bytes(const Workload& workload, const StrategyMemory& strategy) {
  const ExpandedModel& model = *workload.model;
  const auto elements = static_cast<double>(model.parameter_elements());
  const auto state = static_cast<double>(state_bytes_per_element(workload.optimizer));
  const bool masters = is_half(workload.precision) &&
                       (workload.half_weights || (strategy.keeps_masters && has_half_weights(workload)));
  if (masters)
    return {kHalf * elements + frozen_half_bytes(model), kHalf * elements, (state + kFull) * elements,
            kFull * elements};
  const auto trained = static_cast<double>(model.gradient_bytes().count);
  return {trained + static_cast<double>(model.frozen_bytes()), trained,
          state_bytes(workload.optimizer, elements, trained), trained};
}

/// Of the copies that autocast keeps for the step, where the recorded storages do not have them.
double cast_bytes(const Workload& workload) {
  const bool casts =
      is_half(workload.precision) && !has_half_weights(workload) && !workload.model->keeps_types;
  return casts ? kHalf * product_weights(*workload.model) : 0;
}

double scratch_bytes(const ExpandedModel& model, double batch, bool half, double activations) {
  double largest = 0;
  for (const Operator& op : model.forward) {
    if (op.cls == OperatorClass::conv) largest = std::max(largest, op.bytes.at(batch));
  }
  if (largest == 0) return 0;
  return std::min(kScratchPerByte * largest * (half ? 0.5 : 1), half ? kMostScratchHalf : kMostScratch) +
         kScratchHoles * activations;
}

/// The 16-bit copy of the largest packed weight, which its product reads.
double unpacked_bytes(const ExpandedModel& model) {
  std::int64_t largest = 0;
  for (const Parameter& parameter : model.frozen) {
    if (is_quantised(parameter.packed)) largest = std::max(largest, parameter.elements);
  }
  return kHalf * static_cast<double>(largest);
}

/// What is there at the worst moment beyond weights, all gradients and the optimizer's state.
double transient_bytes(const Workload& workload, const MemorySite& site, double batch,
                       const ParameterBytes& parameters) {
  const bool anew = workload.loop.zero_grad == TrainingLoop::ZeroGrad::set_to_none && site.gpus == 1;
  const GradientTensors gradients = anew ? GradientTensors::made_anew : GradientTensors::kept;
  const auto elements = static_cast<double>(workload.model->parameter_elements());
  const double width = elements > 0 ? parameters.gradients / (kFull * elements) : 1;
  const double peak =
      peak_bytes(workload.model->lifetimes, batch, activation_width(workload), gradients, width) +
      unpacked_bytes(*workload.model);
  const double updated = site.strategy.optimizer * parameters.updated;
  const double temporaries = foreach_temporaries(workload, updated);
  return std::max(anew ? peak - parameters.gradients : peak, temporaries);
}

}  // namespace

ActivationWidth activation_width(const Workload& workload) {
  if (!is_half(workload.precision)) return ActivationWidth::full;
  if (!profile_of(workload.framework).autocasts) return ActivationWidth::graph;
  return has_half_weights(workload) ? ActivationWidth::half : ActivationWidth::autocast;
}

Bytes convolution_scratch(const Workload& workload, Bytes activations) {
  const auto batch = static_cast<double>(std::max<std::int64_t>(workload.batch_per_gpu, 0));
  return whole(scratch_bytes(*workload.model, batch, is_half(workload.precision),
                             static_cast<double>(activations.count)));
}

Bytes framework_bytes(const MemorySite& site, Bytes allocated) {
  return whole(context_bytes(site.architecture) + (site.gpus > 1 ? kNcclBytes : 0) +
               kAllocatorShare * static_cast<double>(allocated.count));
}

MemoryUse memory_use(const Workload& workload, const MemorySite& site) {
  const ExpandedModel& model = *workload.model;
  const ParameterBytes bytes = parameter_bytes(workload, site.strategy);
  const auto batch = static_cast<double>(std::max<std::int64_t>(workload.batch_per_gpu, 0));
  MemoryUse use;
  use.parameters =
      whole(site.strategy.parameters * bytes.weights + cast_bytes(workload) + buffer_bytes(model));
  use.gradients = whole(site.strategy.gradients * bytes.gradients);
  use.optimizer = whole(site.strategy.optimizer * bytes.optimizer);
  use.buckets = whole(static_cast<double>(site.strategy.buffers.count) +
                      batch * static_cast<double>(site.strategy.per_sample.count));
  use.activations = whole(transient_bytes(workload, site, batch, bytes));
  use.workspace = convolution_scratch(workload, use.activations);
  use.framework = framework_bytes(site, use.total() - use.workspace);
  return use;
}

std::int64_t largest_batch(const Workload& workload, const MemorySite& site, Bytes capacity) {
  Workload tried = workload;
  return largest_holding(kLargestBatch, [&](std::int64_t batch) {
    tried.batch_per_gpu = batch;
    return memory_use(tried, site).total() <= capacity;
  });
}

}  // namespace foretrain
