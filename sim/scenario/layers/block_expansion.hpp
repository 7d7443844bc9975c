// Blocks put in: from layer templates to the plain layers of a Model.
#pragma once

#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

/// Expands every use of a block, `repeat` times each, under names like "stage1.0.conv2d". Reports numbers out
/// of range at the argument that gave them, and more than kMostLayers layers. Requires check_blocks() to be
/// true.
std::vector<Layer> expand_blocks(const Blocks& blocks, const LayerList& layers, Diagnostics& diagnostics);

}  // namespace foretrain
