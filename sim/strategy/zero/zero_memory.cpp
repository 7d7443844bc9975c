// Memory of ZeRO: shares of a rank's GPU and, with offload, of its host.
#include <algorithm>

#include "sim/strategy/zero/zero.hpp"
#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"
#include "sim/workload/device/memory.hpp"

namespace foretrain {

// The optimizer's part and the parameters' part are offloaded independently of each other.
HostMemoryUse zero_host_memory(const Workload& workload, const ZeroSettings& settings) {
  if (!settings.offload && !settings.offload_param) return {};
  const ExpandedModel& model = *workload.model;
  HostShare share;
  share.trained = static_cast<double>(settings.own(model.parameter_elements()));
  share.optimizer = settings.offload;
  share.state_bytes = static_cast<double>(state_bytes_per_element(workload.optimizer));
  share.buffer_share = kDeepSpeedBuffers;
  share.optimizer_on_drive = settings.on_nvme, share.parameters_on_drive = settings.param_on_nvme;
  // Offloaded parameters keep a 16-bit copy beside the masters, and frozen weights are divided among ranks.
  if (settings.offload_param) {
    share.weight_bytes = static_cast<double>(settings.element_bytes);
    share.frozen_bytes = static_cast<double>(model.frozen_bytes()) / settings.ranks;
  }
  return host_memory_use(share);
}

// The second peak is that of the lifetimes cut at the first backward step with a complete gradient.
ActivationPeaks activation_peaks(const Workload& workload) {
  const ExpandedModel& model = *workload.model;
  const auto peak_of = [&](const Lifetimes& lifetimes) {
    return static_cast<std::int64_t>(
        peak_bytes(lifetimes, 1, activation_width(workload), GradientTensors::kept));
  };
  // Lifetimes that end before the first gradient do not compete with the bucket.
  Lifetimes backward = model.lifetimes;
  const auto ready =
      std::ranges::find_if(model.backward, [](const BackwardStep& step) { return !step.ready.empty(); });
  const auto first = static_cast<std::uint32_t>(model.forward.size()) +
                     static_cast<std::uint32_t>(ready - model.backward.begin());
  std::erase_if(backward.activations, [first](const Lifetime& life) { return life.until < first; });
  for (Lifetime& life : backward.activations) life.from = std::max(life.from, first);
  return {peak_of(model.lifetimes), peak_of(backward)};
}

StrategyMemory zero_memory(const ExpandedModel& model, const ZeroSettings& settings,
                           const ZeroOptions& options, std::int64_t live, const ActivationPeaks& peaks) {
  const double share = 1.0 / settings.ranks;
  const std::int64_t elements = model.parameter_elements();
  StrategyMemory memory;
  memory.keeps_masters = true;
  // Stage 0 has one buffer for a message, and nothing is sharded.
  if (settings.stage == 0) {
    memory.buffers = {settings.element_bytes * std::min(elements, kZeroMessage)};
    return memory;
  }
  // Every stage divides one more account; offloaded accounts leave the GPU.
  memory.optimizer = settings.offload ? 0 : share;
  if (settings.stage >= 2) memory.gradients = settings.offload ? 0 : share;
  if (settings.stage == 3) memory.parameters = settings.offload_param ? 0 : share;
  // There are two buckets with overlap_comm: one fills while the other is reduced.
  const std::int64_t buckets = settings.overlap && settings.stage < 3 ? 2 : 1;
  // fp32 weights are copied into a flat partition, on which the optimizer steps.
  const std::int64_t master =
      settings.element_bytes == 4 && !settings.offload ? 4 * settings.own(elements) : 0;
  // The bucket is allocated for the first gradient. Its gradients are whole until it is reduced, and are
  // packed then. Packing takes the place of activations where one bucket has all gradients.
  const std::int64_t in_bucket = std::min(elements, options.reduce_bucket_size);
  const std::int64_t packed = settings.element_bytes * (settings.stage == 1 ? 1 : 2) * in_bucket;
  const std::int64_t beside =
      in_bucket == elements ? std::max(peaks.backward, packed) : peaks.backward + packed;
  const std::int64_t bucket = settings.element_bytes * buckets * options.reduce_bucket_size;
  memory.buffers = {settings.element_bytes * live + master +
                    std::max<std::int64_t>(0, bucket + beside - peaks.step)};
  return memory;
}

}  // namespace foretrain
