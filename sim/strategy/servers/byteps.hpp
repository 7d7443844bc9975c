// Strategy `byteps`: gradients in partitions, summed in the node by NCCL and between nodes by servers on
// CPUs.
#pragma once

#include <cstdint>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Returns the elements of a partition: `limit` bytes rounded up to whole pages for every GPU of a node
/// (byteps/common/global.cc).
std::int64_t partition_elements(Bytes limit, int gpus_per_node, std::int64_t element_bytes);

/// Plans BytePS with one process per GPU. Each partition passes these stages by itself: reduce-scatter in the
/// node, copy to host memory, push to its server, sum, pull, copy back, all-gather. The optimizer runs on
/// every GPU (docs/models/replicated.md). One GPU registers no hooks and runs as `single`. Throws InputError
/// if partitions are too small.
Plan plan_byteps(const PlanRequest& request);
/// Returns the catalog row of `byteps`.
StrategyEntry byteps_strategy();

}  // namespace foretrain
