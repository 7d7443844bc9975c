// A node of a cluster as a drawing: its devices and links, and NCCL's rings through its GPUs.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// The content of a drawing. `job` gives rings on its first node, at most kMostDrawnRings different ones;
/// nullptr: none.
struct TopologyDrawing {
  const ClusterSpec& cluster;
  const nccl::Job* job = nullptr;
  /// Number of nodes of the network that are drawn; 0: all.
  int nodes = 0;
};
/// Largest number of different rings in a drawing.
inline constexpr int kMostDrawnRings = 16;

/// Returns the drawing as SVG. Light and dark backgrounds both work. The width of a line grows with its
/// number of links.
std::string draw_topology(const TopologyDrawing& drawing);

/// Returns the drawing for Graphviz: an undirected graph, with rings as coloured edges on top.
std::string write_topology_dot(const TopologyDrawing& drawing);  // topology_dot.cpp

// The layout of a node's devices: CPUs at the top, switches below them, then GPUs and adapters, NVSwitches at
// the bottom.

/// The place of a device.
struct DrawnDevice {
  /// Centre, in widths of a device.
  double column = 0;
  /// Row from the top; 0: the CPUs.
  int row = 0;
};

/// The places of all devices of a node.
struct NodeLayout {
  /// Place of each vertex of the node's graph.
  std::vector<DrawnDevice> devices;
  double columns = 1;
  int rows = 1;
};

/// Returns the layout. Devices below one parent stand side by side in the order of their numbers. Devices
/// that no path connects to a CPU stand at the right end.
NodeLayout lay_out(const NodeGraph& graph);

}  // namespace foretrain
