// Resolution of FSDP's options: the defaults of the framework's version, and the types and groups of the job.
#include <algorithm>

#include "sim/strategy/fsdp/fsdp.hpp"
#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "sim/strategy/process/offload_options.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kNarrowBytes = 2;

std::int64_t width_of(WireType type) { return type == WireType::fp32 ? kFloatBytes : kNarrowBytes; }

WireType gathered_type(const Workload& workload, ParamType choice) {
  switch (choice) {
    case ParamType::fp32:
      return WireType::fp32;
    case ParamType::bf16:
      return WireType::bf16;
    case ParamType::fp16:
      return WireType::fp16;
    case ParamType::weights:
      break;
  }
  // Adapters in fp32 beside weights of 16 bits are few, so the type of the weights counts.
  return weight_type(workload);
}

WireType reduced_type(ReduceType choice, WireType gathered) {
  switch (choice) {
    case ReduceType::fp32:
      return WireType::fp32;
    case ReduceType::bf16:
      return WireType::bf16;
    case ReduceType::fp16:
      return WireType::fp16;
    case ReduceType::param:
      break;
  }
  return gathered;
}

/// Sets the types that MixedPrecision and MixedPrecisionPolicy decide. Shards have the type in which the
/// network was made: fp32, or the recorded one.
void put_types(const Workload& workload, const FsdpOptions& options, FsdpSettings& settings) {
  settings.gathered_type = gathered_type(workload, options.param_dtype);
  settings.reduced_type = reduced_type(options.reduce_dtype, settings.gathered_type);
  settings.element_bytes = width_of(settings.gathered_type);
  settings.reduced_bytes = width_of(settings.reduced_type);
  const bool is_made_half = has_half_weights(workload) && !workload.half_weights;
  settings.shard_bytes = is_made_half ? kNarrowBytes : kFloatBytes;
}

}  // namespace

FsdpSettings fsdp_settings(const PlanRequest& request, bool per_parameter) {
  const FsdpOptions& options = request.options<FsdpOptions>();
  const bool is_recent = request.workload.framework.version >= FrameworkVersion{2, 0};
  FsdpSettings settings;
  settings.per_parameter = per_parameter;
  settings.sharding = request.placement.size() == 1 ? Sharding::no_shard : options.sharding;
  settings.backward_prefetch =
      per_parameter
          ? BackwardPrefetch::pre
          : options.backward_prefetch.value_or(is_recent ? BackwardPrefetch::pre : BackwardPrefetch::none);
  settings.forward_prefetch = !per_parameter && options.forward_prefetch;
  settings.limit_all_gathers = options.limit_all_gathers.value_or(is_recent);
  put_types(request.workload, options, settings);
  settings.offloads = options.offload_params;
  settings.pinned = request.options<OffloadOptions>().pin_memory;
  settings.ranks = request.placement.size();
  settings.shards = settings.sharding == Sharding::no_shard ? 1 : request.placement.size();
  // hybrid_shard: the ranks of a node hold one copy together, and nodes are replicas.
  if (settings.sharding == Sharding::hybrid_shard) {
    const auto& ranks = request.placement.ranks;
    settings.replicas = request.placement.nodes;
    settings.shards = static_cast<int>(std::count_if(
        ranks.begin(), ranks.end(), [&](const GpuPlace& rank) { return rank.node == ranks.front().node; }));
    settings.group = Group::node;
  }
  return settings;
}

HostUpdateTime fsdp_host_update(const PlanRequest& request, const FsdpSettings& settings) {
  const Workload& workload = request.workload;
  const auto width = static_cast<double>(settings.shard_bytes);
  const bool is_fused = workload.optimizer.form == OptimizerForm::fused;
  // Norm and scale read the gradients twice and write them.
  const double clip = workload.loop.clip_grad_norm != GradientClipping::none ? 3 * width : 0;
  const int ranks = ranks_of_own_node(request);
  const auto elements = static_cast<double>(workload.model->parameter_elements()) / settings.shards;
  return host_update_time(
      {.elements = elements,
       .bytes_per_element = clip + (is_fused ? fused_host_bytes(workload.optimizer, width)
                                             : unfused_host_bytes(workload.optimizer, width)),
       .passes = is_fused ? 1 : unfused_host_passes(workload.optimizer),
       .ranks = ranks,
       // torchrun sets OMP_NUM_THREADS to 1 where it starts several processes on a node.
       .threads = host_threads(request, ranks > 1 ? 1 : request.own_node().host.cores)},
      request.own_node().host);
}

}  // namespace foretrain
