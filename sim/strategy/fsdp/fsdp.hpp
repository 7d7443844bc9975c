// Strategies `fsdp` and `fsdp2`: PyTorch's FullyShardedDataParallel and fully_shard.
#pragma once

#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/host_update.hpp"

namespace foretrain {

/// Plans one process per GPU. Each keeps 1/N of every unit's parameters, gradients and optimizer state, and
/// gathers a unit when its turn comes (docs/models/sharded.md). On one GPU nothing is sharded.
Plan plan_fsdp(const PlanRequest& request);
/// Plans FSDP2: parameters are sharded one by one instead of flat, with copies into and out of the gathers,
/// and without a rate limiter.
Plan plan_fsdp2(const PlanRequest& request);
/// Return the catalog's rows, with the options that scenario files may set.
StrategyEntry fsdp_strategy();
StrategyEntry fsdp2_strategy();

/// Returns the options with the defaults of the framework's version.
FsdpSettings fsdp_settings(const PlanRequest& request, bool per_parameter);

/// Returns the time in which the ranks of a node step their shards in host memory. The optimizer is
/// torch.optim in fp32 or in the type of the shards, fused or with an operator for each term.
HostUpdateTime fsdp_host_update(const PlanRequest& request, const FsdpSettings& settings);

/// Returns the shares of one GPU, and the bytes that are whole beside them at the fuller of two moments.
/// These are the beginning of backward, beside all activations, and its end, in their place. Whole are two
/// units in flight and one in use, the root, and gradients on their way. With shard_grad_op all parameters
/// are whole, and with accumulation all gradients too.
StrategyMemory fsdp_memory(const PlanRequest& request, const ModelUnits& units, const FsdpSettings& settings);

}  // namespace foretrain
