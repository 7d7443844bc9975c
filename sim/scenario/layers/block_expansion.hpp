// Blocks put in: from layer templates to the plain layers of a Model.
#pragma once

#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

/// Expands every use of a block, `repeat` times each, under names like "stage1.0.conv2d". Reports numbers out
/// of range at the argument that gave them, and more than kMostLayers layers. Requires check_blocks() to be
/// true.
std::vector<Layer> expand_blocks(const Blocks& blocks, const LayerList& layers, Diagnostics& diagnostics);

// Whether the blocks of a model file fit together: known names, no cycles, bounded nesting, every parameter
// given and used.

/// Blocks may use blocks this deep.
inline constexpr int kDeepestBlocks = 32;

/// Reports every fault of the model's own layers and of all blocks, used or not. True when they may be
/// expanded.
bool check_blocks(const Blocks& blocks, const LayerList& model_layers, Diagnostics& diagnostics);

}  // namespace foretrain
