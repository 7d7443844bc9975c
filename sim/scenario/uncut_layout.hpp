// A layout of [parallel] that cuts nothing, as the strategy that its framework runs then.
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// With every degree 1, PyTorch, DeepSpeed, llm-foundry and torchtitan train the network as it stands, under
/// ZeRO, DDP or FSDP as `shard` says. Such a layout is that strategy, with the network's own operators. False
/// where a key of [parallel] says what no strategy knows (offloaded activations, CUDA graphs, gradients of
/// another width, groups of shards, a partial recomputation, 4-bit products), and for frameworks that bring
/// modules of their own (Megatron-LM, nanotron, InternEvo, MaxText), whose kernels the layout has.
bool runs_as_strategy(const LargeModelRun& layout);

/// The scenario of that strategy on `gpus` GPUs: micro-batch, micro-steps, sequence and attention are the
/// layout's, weights and gradients have 16 bits beside fp32 masters, and the optimizer has two moments.
/// Nothing without [parallel], where runs_as_strategy() is false, or where the network cannot have that
/// sequence or attention. Requires runs_on(*scenario.parallel, gpus).
std::optional<Scenario> as_strategy(const Scenario& scenario, int gpus);

/// A layout that is known by its sizes alone, on a cluster, with the network of these sizes. Nothing where
/// there is no such network (network_of()).
std::optional<Scenario> scenario_of(const LargeModelRun& layout, const ClusterSpec& cluster);

}  // namespace foretrain
