// Blocks put in: from layer templates to the plain layers of a Model.
#pragma once

#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

/// What "$name" stands for, and where that was said.
using Arguments = std::map<std::string, Number, std::less<>>;

/// The number that a formula makes of the arguments, with the place of the one argument it is; a plain number
/// as it is. A formula without a value is 0 and is told in `lost`.
Number number_of(const Number& number, const Arguments& arguments, bool& lost);

/// Expands every use of a block, `repeat` times each, under names like "stage1.0.conv2d". Reports numbers out
/// of range at the argument that gave them, and more than kMostLayers layers. Requires check_blocks() to be
/// true.
/// `of_size`: the parameters of the network's size, which every block sees that is not given its own.
std::vector<Layer> expand_blocks(const Blocks& blocks, const LayerList& layers, const Arguments& of_size,
                                 Diagnostics& diagnostics);

// Whether the blocks of a model file fit together: known names, no cycles, bounded nesting, every parameter
// given and used.

/// Blocks may use blocks this deep.
inline constexpr int kDeepestBlocks = 32;

/// Reports every fault of the model's own layers and of all blocks, used or not. True when they may be
/// expanded.
bool check_blocks(const Blocks& blocks, const LayerList& model_layers, const Arguments& of_size,
                  Diagnostics& diagnostics);

}  // namespace foretrain
