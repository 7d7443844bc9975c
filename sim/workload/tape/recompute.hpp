// Activation checkpointing: of every block of a network only what goes in is kept, and backward runs the
// block once more before it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Where repeated blocks stand in a network: by layer the number of its block from 1, 0 for layers in none.
/// Blocks are told by the numbers in their paths ("layers.3.self_attn").
std::vector<std::uint32_t> numbered_blocks(const ExpandedModel& model);

/// The network as torch.utils.checkpoint around each numbered block runs it: before the first step of a
/// block's backward stand its forward operators once more, with its layers. Tensors of a block that only its
/// own backward needs are there until the block's forward ends, and again from where they are computed anew;
/// what goes into a block stays. Without such blocks the network as it is.
ExpandedModel with_recomputed_blocks(const ExpandedModel& model);

}  // namespace foretrain
