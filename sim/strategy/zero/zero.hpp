// Strategies `zero0` to `zero3`: DeepSpeed's engine with its four stages of ZeRO.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

struct ZeroOptions;

/// A stage of ZeRO with DeepSpeed's defaults resolved.
struct ZeroSettings {
  int stage = 0;
  int ranks = 1;
  /// Bytes of an element of weights and gradients.
  std::int64_t element_bytes = 4;
  bool overlap = false;        ///< gradients are reduced beside backward, on a stream of their own
  bool offload = false;        ///< optimizer state and step on the host
  bool offload_param = false;  ///< shards of the parameters are there, too
  bool on_nvme = false;        ///< the optimizer's state is on a drive between steps
  bool param_on_nvme = false;  ///< and so are the shards
  bool pinned = true;          ///< buffers on the host are page-locked
  /// The ranks ask each other for infinite gradients.
  bool checks_overflow = false;
  /// The ranks sum the norm of gradients.
  bool sums_norm = true;
  /// Returns the type of weights and gradients in messages.
  WireType element_type() const { return element_bytes == 2 ? WireType::half : WireType::fp32; }
  /// Returns the number of ranks that share the optimizer's state.
  int partitions() const { return stage == 0 ? 1 : ranks; }
  /// True where gradients are taken while backward runs, not after it.
  bool hooks() const { return stage >= 2 || (stage == 1 && overlap); }
  /// Returns the elements of one rank when `elements` are laid end to end. Stages 1 and 2 align pieces to two
  /// elements (nccl_start_alignment_factor).
  std::int64_t own(std::int64_t elements) const {
    const std::int64_t aligned = stage == 1 || stage == 2 ? kAlignedElements : 1;
    const std::int64_t all = partitions() * aligned;
    return (elements + all - 1) / all * aligned;
  }
  static constexpr std::int64_t kAlignedElements = 2;
};
/// Returns the settings of a stage for a job.
ZeroSettings zero_settings(const PlanRequest& request, int stage);

/// Plan one process per GPU (docs/models/sharded.md). Stage 0 shards nothing and has one all-reduce after
/// backward. Stage 1 shards the optimizer's state, stage 2 also gradients, stage 3 also parameters.
Plan plan_zero0(const PlanRequest& request);
Plan plan_zero1(const PlanRequest& request);
Plan plan_zero2(const PlanRequest& request);
Plan plan_zero3(const PlanRequest& request);
StrategyEntry zero0_strategy();
StrategyEntry zero1_strategy();
StrategyEntry zero2_strategy();
StrategyEntry zero3_strategy();

/// Largest bytes of one sample's activations at any moment, and from the first gradient of a parameter on.
/// One sample is enough: buffers are the same for every batch, and more samples leave more space.
struct ActivationPeaks {
  std::int64_t step = 0, backward = 0;
};
ActivationPeaks activation_peaks(const Workload& workload);

/// Returns the memory that a rank of the stage uses on its host; all accounts are 0 where it offloads
/// nothing.
HostMemoryUse zero_host_memory(const Workload& workload, const ZeroSettings& settings);

/// Returns the shares of one GPU and its buffers: the gradient bucket, in fp32 the optimizer's copy of the
/// weights, and in stage 3 the `live` elements of parameters that are whole at the same time. The bucket is
/// allocated for the first gradient. Gradients are whole until it is reduced, and are packed once more then.
StrategyMemory zero_memory(const ExpandedModel& model, const ZeroSettings& settings,
                           const ZeroOptions& options, std::int64_t live, const ActivationPeaks& peaks);

}  // namespace foretrain
