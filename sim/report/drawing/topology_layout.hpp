// Where the devices of a node stand in a drawing: CPUs above, their switches below them, then GPUs and NICs,
// NVSwitches at the foot.
#pragma once

#include <vector>

#include "sim/cluster/node_layout.hpp"

namespace foretrain {

struct DrawnDevice {
  double column = 0;  ///< centre, in widths of a device
  int row = 0;        ///< 0: the CPUs
};

struct NodeLayout {
  std::vector<DrawnDevice> devices;  ///< by vertex of the node
  double columns = 1;
  int rows = 1;
};

/// Devices that hang below one parent stand side by side and in order; one that no way leads to from a CPU
/// stands after them.
NodeLayout lay_out(const NodeGraph& graph);

}  // namespace foretrain
