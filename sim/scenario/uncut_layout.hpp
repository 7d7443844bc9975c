// A layout of [parallel] that cuts nothing, as the strategy that its framework runs then.
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Returns whether a layout is one of a plain strategy. With every degree 1, PyTorch, DeepSpeed, llm-foundry
/// and torchtitan train the network unchanged, under ZeRO, DDP or FSDP as `shard` states. Such a layout is
/// that strategy, with the network's own operators. It is false if a key of [parallel] has no counterpart in
/// a strategy (offloaded activations, CUDA graphs, gradients of another width, groups of shards, a partial
/// recomputation, 4-bit products). It is also false for frameworks with modules of their own (Megatron-LM,
/// nanotron, InternEvo, MaxText), whose kernels the layout has.
bool runs_as_strategy(const LargeModelRun& layout);

/// Returns the scenario of that strategy on `gpus` GPUs. Micro-batch, micro-steps, sequence and attention are
/// the layout's; weights and gradients have 16 bits beside fp32 masters, and the optimizer has two moments.
/// Returns nullopt without [parallel], if runs_as_strategy() is false, or if the network cannot have that
/// sequence or attention. Requires runs_on(*scenario.parallel, gpus).
std::optional<Scenario> as_strategy(const Scenario& scenario, int gpus);

/// Returns a scenario of a layout that is known by its sizes alone, on a cluster, with the network of these
/// sizes. Returns nullopt if there is no such network (network_of()).
std::optional<Scenario> scenario_of(const LargeModelRun& layout, const ClusterSpec& cluster);

}  // namespace foretrain
