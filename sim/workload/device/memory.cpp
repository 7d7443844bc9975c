// Memory of one GPU in training: the accounts that stay for the whole step, plus the larger of two transient
// peaks.
//
// One peak is around the turn from forward to backward, when most activations are kept. The other is in the
// optimizer step, which makes temporaries (foreach). They never occur together, so their maximum counts. The
// first peak comes from the lifetimes of all tensors (tape/lifetimes.hpp), which differ by the width in which
// activations are stored; weights, gradients and states are products of element counts and widths. A strategy
// divides each account by its share before its own buffers are added. memory_ledger() divides the same sum by
// class of tensors and phase.
#include "sim/workload/device/memory.hpp"

#include <algorithm>

#include "sim/base/largest_holding.hpp"
#include "sim/workload/device/framework_memory.hpp"
#include "sim/workload/framework_profile.hpp"
#include "sim/workload/lowering/matrix_optimizer.hpp"

namespace foretrain {
namespace {

/// Returns the bytes of the CUDA context with the kernels of cuBLAS and cuDNN and their handles' workspaces.
/// AMD's are assumed to be as large as those of their years. Ranges are unverified (docs/models/memory.md).
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

/// Bytes of NCCL's buffers and kernels; unverified as well.
constexpr double kNcclBytes = 350e6;
/// Scratch memory of the convolution algorithms that cuDNN's benchmark chooses. It is a multiple of what the
/// largest convolution reads and writes, up to a limit beyond which no faster algorithm is found. Scratch
/// blocks also leave holes between tensors of many sizes, in proportion to activations. Fitted to the largest
/// batches of ResNet-50 on cards of 16 to 48 GB (docs/models/memory.md).
constexpr double kScratchPerByte = 8, kMostScratch = 2.6e9, kMostScratchHalf = 2.25e9, kScratchHoles = 0.052;
constexpr std::int64_t kTwoStates = 8;  ///< bytes per element: foreach keeps a temporary for each
constexpr double kMostBytes = 1e17;     // seven of them still fit
/// Largest batch that may be requested (model.batch_per_gpu).
constexpr std::int64_t kLargestBatch = 1'000'000;

Bytes whole(double bytes) { return {static_cast<std::int64_t>(std::clamp(bytes, 0.0, kMostBytes))}; }

/// Returns the bytes of foreach's temporaries: Adam's denominators and, until PyTorch 2.1, the quotients of
/// its step sizes. One set was measured with 2.11 (docs/measured/h100).
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

/// Returns the elements of the weights of matrix products: autocast keeps a 16-bit copy of each for the step.
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

/// Bytes of all parameters of a network before a strategy divides them.
struct ParameterBytes {
  double weights = 0, gradients = 0, optimizer = 0, updated = 0;  ///< `updated`: what the optimizer steps on
};

/// Returns the bytes of frozen weights where those that are not packed have 16 bits.
double frozen_half_bytes(const ExpandedModel& model) {
  double sum = 0;
  for (const Parameter& parameter : model.frozen)
    sum += is_quantised(parameter.packed) ? static_cast<double>(parameter.bytes())
                                          : kHalf * static_cast<double>(parameter.elements);
  return sum;
}

/// Returns the bytes for an optimizer that steps inside of backward: the gradient that is stepped, and the
/// next one.
ParameterBytes stepped_in_backward(const ExpandedModel& model, ParameterBytes bytes) {
  std::int64_t largest = 0;
  for (const Parameter& parameter : model.parameters) largest = std::max(largest, parameter.elements);
  const auto elements = static_cast<double>(model.parameter_elements());
  const double share = elements > 0 ? static_cast<double>(largest) / elements : 0;
  bytes.gradients *= std::min(1.0, 2 * share), bytes.updated *= share;
  return bytes;
}

/// Returns the bytes of all parameters. Weights have their own types; gradients and states have those of
/// their weights. Beside weights that half_weights makes narrow, masters and states in fp32 are held.
ParameterBytes bytes_of_all(const Workload& workload, const StrategyMemory& strategy) {
  const ExpandedModel& model = *workload.model;
  const auto elements = static_cast<double>(model.parameter_elements());
  const auto state = static_cast<double>(state_bytes_per_element(workload.optimizer));
  const bool masters = is_half(workload.precision) &&
                       (workload.half_weights || (strategy.keeps_masters && has_half_weights(workload)));
  const Optimizer& optimizer = workload.optimizer;
  const bool by_matrix = works_on_matrices(optimizer.kind);
  if (masters) {
    const double states = by_matrix ? matrix_state_bytes(optimizer, model, kFull) : state * elements;
    return {kHalf * elements + frozen_half_bytes(model), kHalf * elements, states + kFull * elements,
            kFull * elements};
  }
  const auto trained = static_cast<double>(model.gradient_bytes().count);
  return {trained + static_cast<double>(model.frozen_bytes()), trained,
          by_matrix ? matrix_state_bytes(optimizer, model) : state_bytes(optimizer, elements, trained),
          trained};
}

ParameterBytes parameter_bytes(const Workload& workload, const StrategyMemory& strategy) {
  const ParameterBytes bytes = bytes_of_all(workload, strategy);
  return workload.optimizer.in_backward ? stepped_in_backward(*workload.model, bytes) : bytes;
}

/// Returns the bytes of the copies that autocast keeps for the step, where the recorded storages do not have
/// them.
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

/// Returns the bytes of the 16-bit copy of the largest packed weight, which its product reads.
double unpacked_bytes(const ExpandedModel& model) {
  std::int64_t largest = 0;
  for (const Parameter& parameter : model.frozen) {
    if (is_quantised(parameter.packed)) largest = std::max(largest, parameter.elements);
  }
  return kHalf * static_cast<double>(largest);
}

/// True where gradients of weights are made one by one in backward and are freed before the next step.
bool makes_gradients_anew(const Workload& workload, const MemorySite& site) {
  return workload.loop.zero_grad == TrainingLoop::ZeroGrad::set_to_none && site.gpus == 1 &&
         !workload.optimizer.in_backward;
}

/// Returns the bytes at the worst moment beyond weights, all gradients and the optimizer's state.
double transient_bytes(const Workload& workload, const MemorySite& site, double batch,
                       const ParameterBytes& parameters) {
  const bool anew = makes_gradients_anew(workload, site);
  const GradientTensors gradients = anew ? GradientTensors::made_anew : GradientTensors::kept;
  const auto elements = static_cast<double>(workload.model->parameter_elements());
  const double width = elements > 0 ? parameters.gradients / (kFull * elements) : 1;
  const double peak =
      peak_bytes(workload.model->lifetimes, batch, activation_width(workload), gradients, width) +
      unpacked_bytes(*workload.model);
  const double updated = site.strategy.optimizer * parameters.updated;
  const double temporaries = foreach_temporaries(workload, updated);
  // Gradients that are made anew are part of the peak, but are counted as an account already.
  return std::max(anew ? peak - parameters.gradients : peak, temporaries);
}

}  // namespace

ActivationWidth activation_width(const Workload& workload) {
  if (!is_half(workload.precision)) return ActivationWidth::full;
  if (!profile_of(workload.framework).autocasts) return ActivationWidth::graph;
  return has_half_weights(workload) ? ActivationWidth::half : ActivationWidth::autocast;
}

std::vector<double> offloaded_bytes(const Workload& workload) {
  const auto batch = static_cast<double>(std::max<std::int64_t>(workload.batch_per_gpu, 0));
  std::vector<double> bytes;
  for (const OffloadedTensor& tensor : workload.model->offloaded.tensors)
    bytes.push_back(tensor.life.at(batch, activation_width(workload)));
  return bytes;
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

namespace {

/// Returns the layer of the last product: from there on a network makes its scores and its loss.
std::uint32_t first_of_head(const ExpandedModel& model) {
  for (std::size_t i = model.forward.size(); i > 0; --i) {
    if (model.forward[i - 1].product_count > 0) return model.forward[i - 1].layer;
  }
  return UINT32_MAX;
}

enum class TensorClass : std::uint8_t { saved, scores, gradients };

/// Returns the class of a tensor that lives from this moment on; `head` is first_of_head().
TensorClass class_of(const ExpandedModel& model, std::uint32_t head, std::uint32_t moment) {
  if (moment < model.forward.size())
    return model.forward[moment].layer >= head ? TensorClass::scores : TensorClass::saved;
  const std::size_t step = moment - model.forward.size();
  if (step >= model.backward.size()) return TensorClass::gradients;
  const Operator& op = model.backward[step].op;
  if (op.layer >= head) return TensorClass::scores;
  return op.backward ? TensorClass::gradients : TensorClass::saved;  // computed once more
}

/// The bytes at the fullest moment, by class. `weights` are gradients of parameters that are made anew.
struct FullestMoment {
  std::array<double, 3> of_class{};
  double weights = 0;
};

/// Finds the moment from `from` up to, but not including, `until` with most bytes, and sums what lives then.
FullestMoment fullest_moment(const ExpandedModel& model, double batch, ActivationWidth width,
                             double anew_width, std::uint32_t from, std::uint32_t until) {
  const Lifetimes& all = model.lifetimes;
  std::vector<double> change(std::size_t{all.moments} + 1, 0);
  const auto add = [&](const Lifetime& life, double bytes) {
    change[life.from] += bytes, change[std::size_t{life.until} + 1] -= bytes;
  };
  for (const Lifetime& life : all.activations) add(life, life.at(batch, width));
  for (const Lifetime& life : all.parameter_gradients) add(life, anew_width * life.at(batch, width));
  double sum = 0, most = -1;
  std::uint32_t fullest = from;
  for (std::uint32_t moment = 0; moment < until; ++moment) {
    sum += change[moment];
    if (moment >= from && sum > most) most = sum, fullest = moment;
  }
  FullestMoment out;
  const std::uint32_t head = first_of_head(model);
  const auto lives = [fullest](const Lifetime& life) {
    return life.from <= fullest && fullest <= life.until;
  };
  for (const Lifetime& life : all.activations) {
    if (lives(life))
      out.of_class[static_cast<std::size_t>(class_of(model, head, life.from))] += life.at(batch, width);
  }
  for (const Lifetime& life : all.parameter_gradients) {
    if (lives(life)) out.weights += anew_width * life.at(batch, width);
  }
  return out;
}

}  // namespace

MemoryLedger memory_ledger(const Workload& workload, const MemorySite& site) {
  const ExpandedModel& model = *workload.model;
  const ParameterBytes bytes = parameter_bytes(workload, site.strategy);
  const MemoryUse use = memory_use(workload, site);
  const auto batch = static_cast<double>(std::max<std::int64_t>(workload.batch_per_gpu, 0));
  const bool anew = makes_gradients_anew(workload, site);
  const auto elements = static_cast<double>(model.parameter_elements());
  const double anew_width = anew && elements > 0 ? bytes.gradients / (kFull * elements) : 0;
  const auto forward = static_cast<std::uint32_t>(model.forward.size());
  const std::array moments{
      fullest_moment(model, batch, activation_width(workload), anew_width, 0, forward),
      fullest_moment(model, batch, activation_width(workload), anew_width, forward, model.lifetimes.moments)};
  const auto activations = [&](TensorClass of) {
    const auto at = static_cast<std::size_t>(of);
    return std::array{whole(moments[0].of_class[at]), whole(moments[1].of_class[at]), Bytes{}};
  };
  const auto always = [](Bytes held) { return std::array{held, held, held}; };
  const Bytes unpacked = whole(unpacked_bytes(model)), casts = whole(cast_bytes(workload)),
              buffers = whole(buffer_bytes(model));
  MemoryLedger ledger;
  ledger.rows = {
      {"weights", always(use.parameters - casts - buffers)},
      {"16-bit copies of weights", always(casts)},
      {"buffers of the network", always(buffers)},
      {"one unpacked weight", {unpacked, unpacked, Bytes{}}},
      {"gradients of weights",
       anew ? std::array{whole(moments[0].weights), whole(moments[1].weights), use.gradients}
            : always(use.gradients)},
      {"optimizer's state", always(use.optimizer)},
      {"temporaries of the optimizer",
       {Bytes{}, Bytes{}, whole(foreach_temporaries(workload, site.strategy.optimizer * bytes.updated))}},
      {"buckets and gathered weights", always(use.buckets)},
      {"activations", activations(TensorClass::saved)},
      {"scores and loss", activations(TensorClass::scores)},
      {"gradients of activations", activations(TensorClass::gradients)},
      {"workspace of convolutions", always(use.workspace)}};  // the allocator keeps it
  std::erase_if(ledger.rows, [](const MemoryRow& row) { return row.held == std::array<Bytes, 3>{}; });
  for (const MemoryRow& row : ledger.rows) {
    for (std::size_t phase = 0; phase < row.held.size(); ++phase)
      ledger.allocated[phase] = ledger.allocated[phase] + row.held[phase];
  }
  const Bytes fullest = *std::ranges::max_element(ledger.allocated);
  ledger.reserved = whole((1 + kAllocatorShare) * static_cast<double>(fullest.count));
  ledger.shown = use.total();
  return ledger;
}

std::int64_t largest_batch(const Workload& workload, const MemorySite& site, Bytes capacity) {
  Workload tried = workload;
  return largest_holding(kLargestBatch, [&](std::int64_t batch) {
    tried.batch_per_gpu = batch;
    return memory_use(tried, site).total() <= capacity;
  });
}

}  // namespace foretrain
