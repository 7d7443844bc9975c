// Memory of FSDP at two moments: the beginning of backward, when all activations exist, and its end, when the
// last unit is exchanged in their place.
#include <algorithm>

#include "sim/strategy/fsdp/fsdp.hpp"
#include "sim/workload/device/memory.hpp"

namespace foretrain {

namespace {

/// Elements of units: whole parameters with frozen ones, and those that get a gradient.
struct UnitSizes {
  std::int64_t all = 0, trained = 0, largest = 0, most_trained = 0;
  std::int64_t behind_blocks = 0;  ///< elements of the root whose gradients come first in backward
};

UnitSizes sizes_of(const ExpandedModel& model, const ModelUnits& units) {
  UnitSizes sizes;
  for (std::size_t i = 0; i < units.units.size(); ++i) {
    sizes.all += units.units[i].held(), sizes.trained += units.units[i].elements;
    if (i == 0) continue;
    sizes.largest = std::max(sizes.largest, units.units[i].held());
    sizes.most_trained = std::max(sizes.most_trained, units.units[i].elements);
  }
  const auto first = std::ranges::find_if(units.of_layer, [](std::uint32_t unit) { return unit != 0; });
  const auto block = static_cast<std::uint32_t>(first - units.of_layer.begin());
  for (const std::uint32_t parameter : units.units.front().parameters) {
    if (model.parameters[parameter].layer > block)
      sizes.behind_blocks += model.parameters[parameter].elements;
  }
  return sizes;
}

/// Bytes at both moments, besides shards and activations.
struct Moments {
  std::int64_t begins = 0, ends = 0;
};

Moments moments_of(const ModelUnits& units, const UnitSizes& sizes, const FsdpSettings& settings) {
  const ModelUnit& root = units.units.front();
  const auto others = static_cast<std::int64_t>(units.units.size()) - 1;
  // The gradients of a unit, and the tensor that is summed where that is another one.
  const bool copies = settings.per_parameter || settings.reduced_bytes != settings.element_bytes;
  const std::int64_t exchanged = settings.element_bytes + (copies ? settings.reduced_bytes : 0);
  const std::int64_t last = root.elements > 0 || others == 0 ? root.elements : units.units[1].elements;
  // Whole are two units in flight and one in use.
  std::int64_t first_whole =
      std::min(sizes.all, root.held() + std::min<std::int64_t>(3, others) * sizes.largest);
  std::int64_t last_whole = std::max(root.held(), last);
  if (settings.sharding == Sharding::shard_grad_op) first_whole = last_whole = sizes.all;
  return {settings.element_bytes * (first_whole + sizes.behind_blocks) + exchanged * sizes.most_trained,
          settings.element_bytes * last_whole + exchanged * last};
}

/// Returns the bytes per sample of inputs that FullyShardedDataParallel holds. It puts a hook on the input of
/// a unit without trained parameters, and drops it when backward has ended. A reentrant checkpoint, the
/// default of transformers, makes a tensor of its own of each input; the hook holds it with its gradient
/// (torch/distributed/fsdp/_runtime_utils.py, _register_post_backward_reshard_only_hook; seen with PyTorch
/// 2.9: docs/models/sharded.md).
Bytes held_block_inputs(const Workload& workload, const FsdpSettings& settings) {
  const ExpandedModel& model = *workload.model;
  const std::int64_t batch = workload.batch_per_gpu;
  if (settings.per_parameter || !workload.recompute || model.frozen_elements() == 0 || batch < 1) return {};
  const auto peak = [&](const Lifetimes& lifetimes) {
    return peak_bytes(lifetimes, static_cast<double>(batch), activation_width(workload),
                      GradientTensors::kept);
  };
  const double more = peak(with_held_block_inputs(model.lifetimes)) - peak(model.lifetimes);
  return {static_cast<std::int64_t>(more / static_cast<double>(batch))};
}

/// Returns the host memory of one rank: shards in their own width, gradients and states as wide.
HostMemoryUse fsdp_host_memory(const Workload& workload, const FsdpSettings& settings) {
  const ExpandedModel& model = *workload.model;
  constexpr double kFull = 4;
  HostShare share;
  share.trained = static_cast<double>(model.parameter_elements()) / settings.shards;
  share.master_bytes = static_cast<double>(settings.shard_bytes);
  share.state_bytes =
      static_cast<double>(state_bytes_per_element(workload.optimizer)) * share.master_bytes / kFull;
  share.frozen_bytes = static_cast<double>(model.frozen_bytes()) / settings.shards;
  return host_memory_use(share);
}

}  // namespace

StrategyMemory fsdp_memory(const PlanRequest& request, const ModelUnits& units,
                           const FsdpSettings& settings) {
  const ExpandedModel& model = *request.workload.model;
  StrategyMemory memory;
  if (settings.offloads) memory.host = fsdp_host_memory(request.workload, settings);
  memory.per_sample = held_block_inputs(request.workload, settings);
  if (settings.sharding == Sharding::no_shard && !settings.offloads) return memory;
  memory.parameters = memory.gradients = memory.optimizer = 1.0 / settings.shards;
  if (settings.element_bytes < settings.shard_bytes) {
    // Shards are fp32, and weights are counted in 16 bits. Trained shards are the optimizer's masters, and
    // gradients are back in fp32 once they are reduced.
    constexpr double kWide = 2;
    const auto frozen = static_cast<double>(model.frozen_elements());
    memory.parameters *=
        kWide * frozen / std::max(1.0, frozen + static_cast<double>(model.parameter_elements()));
    memory.gradients *= kWide;
  }
  // Shards on the host are whole on the GPU one unit at a time.
  if (settings.offloads) memory.parameters = memory.gradients = memory.optimizer = 0;
  const UnitSizes sizes = sizes_of(model, units);
  const Moments moments = moments_of(units, sizes, settings);
  const StrategyOptions& knobs = request.knobs;
  const bool accumulates = knobs.accumulation > 1 && knobs.no_sync;
  const std::int64_t added = accumulates ? settings.element_bytes * sizes.trained : 0;
  // Shards of gradients are an account of their own, but do not exist when the first backward pass begins.
  const bool is_fresh =
      knobs.accumulation == 1 && request.workload.loop.zero_grad == TrainingLoop::ZeroGrad::set_to_none;
  const std::int64_t shards =
      is_fresh && !settings.offloads ? settings.shard_bytes * sizes.trained / settings.shards : 0;
  // Activations of one sample: buffers are the same for every batch, and more samples leave more space.
  const auto activations = static_cast<std::int64_t>(
      peak_bytes(model.lifetimes, 1, activation_width(request.workload), GradientTensors::kept));
  memory.buffers = {
      std::max({std::int64_t{0}, added + moments.begins - shards, added + moments.ends - activations})};
  return memory;
}

}  // namespace foretrain
