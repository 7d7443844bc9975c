// The parts of one node in the order they are numbered, and their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// The vertices and directed links of one node; connection i of the NodeSpec is links 2i (a to b) and 2i + 1 (b to a). They are followed
/// by one link per GPU from the GPU to itself: what it copies to or from host memory because its peer is out of reach, both directions
/// together (Gpu::staging_share).
struct NodeGraph {
  std::vector<Vertex> vertices;
  std::vector<ClusterLink> links;
  LinkId first_staging = 0;
};


/// Number of the first device of a kind: GPUs, then CPUs, PCIe switches, NVSwitches, NICs.
VertexId first_of(const NodeSpec& node, VertexKind kind);

/// Number of a device inside its node by name ("gpu0", "cpu1", "switch0", "nvswitch0", "nic0"); nothing when there is no such device.
std::optional<VertexId> find_device(const NodeSpec& node, std::string_view name);

/// "gpu0", "cpu1", "switch0", "nvswitch0", "nic0", "leaf3", "spine2", "core1", "router0".
std::string name_of(const Vertex& vertex);

/// Requires that every link names two devices of the node.
NodeGraph node_graph(const NodeSpec& node);

}  // namespace foretrain
