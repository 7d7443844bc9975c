// The network between nodes as a part of an SVG drawing.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// SVG elements that fill width x height from (left, top). They are empty for one node.
struct FabricPicture {
  std::string elements;
  double width = 0, height = 0;
};

/// Draws the network of the first `nodes` nodes; 0: all. Up to 8 nodes and 16 switches, each has a box.
/// Beyond that, a box stands for a whole level and states how many vertices and links it has.
FabricPicture draw_fabric(const ClusterSpec& spec, int nodes, double left, double top);

}  // namespace foretrain
