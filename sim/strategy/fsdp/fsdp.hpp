// Strategies `fsdp` and `fsdp2`: PyTorch's FullyShardedDataParallel and fully_shard.
#pragma once

#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/host_update.hpp"

namespace foretrain {

/// One process per GPU; each keeps 1/N of every unit's parameters, gradients and optimizer state, and gathers
/// a unit when its turn comes (docs/models/fsdp.md). On one GPU nothing is sharded.
Plan plan_fsdp(const PlanRequest& request);
/// The same per parameter instead of flat, with copies into and out of the gathers, and without a rate
/// limiter.
Plan plan_fsdp2(const PlanRequest& request);
StrategyEntry fsdp_strategy();
StrategyEntry fsdp2_strategy();

/// Options with the defaults of the framework's version put in.
FsdpSettings fsdp_settings(const PlanRequest& request, bool per_parameter);

/// The optimizer of every rank of a node on its shards in host memory: torch.optim in fp32 or as the shards
/// are; fused or an operator for each term.
HostUpdateTime fsdp_host_update(const PlanRequest& request, const FsdpSettings& settings);

/// Shares of one GPU, and beside them what is whole at the fuller of two moments: when backward begins,
/// beside all activations, or when it ends, in their place. Whole are two units in flight and one in use, the
/// root, and gradients on their way; with shard_grad_op all parameters; with accumulation all gradients, too.
StrategyMemory fsdp_memory(const PlanRequest& request, const ModelUnits& units, const FsdpSettings& settings);

}  // namespace foretrain
