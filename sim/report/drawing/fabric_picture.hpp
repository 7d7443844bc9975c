// The network between nodes as a part of an SVG.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Elements that fill width x height from (left, top); nothing for one node.
struct FabricPicture {
  std::string elements;
  double width = 0, height = 0;
};

/// Of the first `nodes` nodes, 0: of all. Up to 8 nodes and 16 switches each is a box; beyond that a box
/// stands for all of a level, with how many they are and how many links lead to the next.
FabricPicture draw_fabric(const ClusterSpec& spec, int nodes, double left, double top);

}  // namespace foretrain
