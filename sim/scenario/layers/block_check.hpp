// Whether the blocks of a model file fit together: known names, no cycles, bounded nesting, every parameter
// given and used.
#pragma once

#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

/// Blocks may use blocks this deep.
inline constexpr int kDeepestBlocks = 32;

/// Reports every fault of the model's own layers and of all blocks, used or not. True when they may be
/// expanded.
bool check_blocks(const Blocks& blocks, const LayerList& model_layers, Diagnostics& diagnostics);

}  // namespace foretrain
