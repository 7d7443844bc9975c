// A node of a cluster as a drawing: its devices and links, and NCCL's rings through its GPUs.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// What is drawn. `job`: its rings on its first node, at most kMostDrawnRings different ones; null: none.
struct TopologyDrawing {
  const ClusterSpec& cluster;
  const nccl::Job* job = nullptr;
  int nodes = 0;  ///< of the network, the first so many; 0: all
};
inline constexpr int kMostDrawnRings = 16;

/// An SVG of its own, readable on light and dark ground; the width of a line grows with the number of links.
std::string draw_topology(const TopologyDrawing& drawing);

/// The same for Graphviz: an undirected graph, rings as coloured edges on top of it.
std::string write_topology_dot(const TopologyDrawing& drawing);  // topology_dot.cpp

// Where the devices of a node stand in a drawing: CPUs above, their switches below them, then GPUs and NICs,
// NVSwitches at the foot.

/// A device of a node in the picture.
struct DrawnDevice {
  double column = 0;  ///< centre, in widths of a device
  int row = 0;        ///< 0: the CPUs
};

/// The places of a node's devices in the picture.
struct NodeLayout {
  std::vector<DrawnDevice> devices;  ///< by vertex of the node
  double columns = 1;
  int rows = 1;
};

/// Devices that hang below one parent stand side by side and in order; one that no way leads to from a CPU
/// stands after them.
NodeLayout lay_out(const NodeGraph& graph);

}  // namespace foretrain
