// Expansion of blocks: from layer templates to the plain layers of a Model.
#pragma once

#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

/// Numbers that "$name" means, each with the place where it was given.
using Arguments = std::map<std::string, Number, std::less<>>;

/// Returns the value of a formula, with the place of its argument if the formula is one argument; a plain
/// number is returned as it is. A formula without a value is 0 and sets `lost`.
Number number_of(const Number& number, const Arguments& arguments, bool& lost);

/// Expands every use of a block, `repeat` times each, under names like "stage1.0.conv2d". `of_size`: the
/// parameters of the network's size, which every block has unless it is given its own. Reports numbers out of
/// range at the argument that gave them, and more than kMostLayers layers. Requires that check_blocks()
/// returned true.
std::vector<Layer> expand_blocks(const Blocks& blocks, const LayerList& layers, const Arguments& of_size,
                                 Diagnostics& diagnostics);

// Checks of the blocks of a model file: known names, no cycles, bounded nesting, every parameter given and
// used.

/// Largest depth of blocks that use blocks.
inline constexpr int kDeepestBlocks = 32;

/// Reports every fault of the model's own layers and of all blocks, used or not. Returns whether they may be
/// expanded.
bool check_blocks(const Blocks& blocks, const LayerList& model_layers, const Arguments& of_size,
                  Diagnostics& diagnostics);

}  // namespace foretrain
