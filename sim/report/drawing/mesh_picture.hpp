// GPUs that many links join with each other, as a part of an SVG: on a circle, where no link runs through a
// GPU.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"
#include "sim/report/drawing/ring_drawing.hpp"

namespace foretrain {

/// Whether more pairs of GPUs are linked than there are GPUs, and more than six: as arcs in a row they could
/// not be told apart.
bool has_mesh(const NodeSpec& node);

inline constexpr double kMeshWidth = 300, kMeshHeight = 270;

/// Fills kMeshWidth x kMeshHeight from the upper left corner, with a heading. Lines are as wide as
/// line_width() says. Requires the classes of topology drawings in the style.
std::string draw_mesh(const NodeSpec& node, DrawnPoint corner);

/// Of a line that stands for so many links.
double line_width(int count);

}  // namespace foretrain
