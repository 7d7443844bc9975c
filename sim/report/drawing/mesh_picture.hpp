// GPUs with many links between them, as a part of an SVG drawing: on a circle, where no link crosses a third
// GPU.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"
#include "sim/report/drawing/ring_drawing.hpp"

namespace foretrain {

/// Returns true when more pairs of GPUs are linked than there are GPUs, and more than six. Drawn as arcs in a
/// row, so many links could not be told apart.
bool has_mesh(const NodeSpec& node);

/// Size of the picture in pixels.
inline constexpr double kMeshWidth = 300, kMeshHeight = 270;

/// Draws the picture with a heading into kMeshWidth x kMeshHeight from the upper left corner. Precondition:
/// the drawing has the style classes of topology drawings.
std::string draw_mesh(const NodeSpec& node, DrawnPoint corner);

/// Returns the width of a line that stands for so many links, in pixels; it grows up to a limit.
double line_width(int count);

}  // namespace foretrain
