// Activation checkpointing: only the inputs of a network's blocks are kept, and backward runs the forward
// pass of each block again before its own steps.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Returns, by layer, the number of its repeated block from 1, and 0 for layers outside of blocks. A block is
/// recognized by the number in its path ("layers.3.self_attn").
std::vector<std::uint32_t> numbered_blocks(const ExpandedModel& model);

/// Returns the network as torch.utils.checkpoint around each numbered block runs it. The forward operators of
/// a block stand again before the first step of its backward, with its layers. Tensors that only the block's
/// own backward needs live until the block's forward ends, and again from where they are computed anew. The
/// input of a block stays. A network without such blocks is returned as it is.
ExpandedModel with_recomputed_blocks(const ExpandedModel& model);

}  // namespace foretrain
