// Strategy `byteps`: gradients in partitions, summed in the node by NCCL and between nodes by servers on
// CPUs.
#pragma once

#include <cstdint>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Elements of a partition: `limit` bytes rounded up to whole pages for every GPU of a node
/// (byteps/common/global.cc).
std::int64_t partition_elements(Bytes limit, int gpus_per_node, std::int64_t element_bytes);

/// One process per GPU. Each partition by itself: reduce-scatter in the node, copy to host memory, push to
/// its server, sum, pull, copy back, all-gather; the optimizer runs on every GPU (docs/models/byteps.md). One
/// GPU registers no hooks: as `single`.
Plan plan_byteps(const PlanRequest& request);
StrategyEntry byteps_strategy();

}  // namespace foretrain
