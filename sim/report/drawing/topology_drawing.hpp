// A node of a cluster as a drawing: its devices and links, and NCCL's rings through its GPUs.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// What is drawn. `job`: its rings on its first node, at most kMostDrawnRings different ones; null: none.
struct TopologyDrawing {
  const ClusterSpec& cluster;
  const nccl::Job* job = nullptr;
};
inline constexpr int kMostDrawnRings = 16;

/// An SVG of its own, readable on light and dark ground; the width of a line grows with the number of links.
std::string draw_topology(const TopologyDrawing& drawing);

/// The same for Graphviz: an undirected graph, rings as coloured edges on top of it.
std::string write_topology_dot(const TopologyDrawing& drawing);  // topology_dot.cpp

}  // namespace foretrain
