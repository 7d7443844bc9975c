// The parts of one node in the order in which they are numbered, and their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// Links per GPU for staging through host memory: one out, one in.
inline constexpr int kStagingLinks = 2;

/// The vertices and directed links of one node. Connection i of the NodeSpec is links 2i (a to b) and 2i + 1
/// (b to a). After them come kStagingLinks links per GPU, from the GPU to itself. They stand for the rates at
/// which its kernels write to and read from host memory (Gpu::staging_share) when a peer is out of reach.
struct NodeGraph {
  std::vector<Vertex> vertices;
  std::vector<ClusterLink> links;
  LinkId first_staging = 0;
  LinkId staging_out(VertexId gpu) const { return first_staging + kStagingLinks * gpu; }
  LinkId staging_in(VertexId gpu) const { return first_staging + kStagingLinks * gpu + 1; }
};

/// The share of PCIe's rate that peers reach through a CPU's root complex, and that one direction through
/// host memory reaches. Two A100 on different root complexes reach 14.5 to 16.6 GB/s of 26.3. A NIC on
/// another root complex than its GPU reaches 14.7 and 18.2 GB/s. Through host memory in one direction, two
/// RTX 4090 reach 18 GB/s and two V100 8 to 9 of 12.3 (docs/measured/nccl.csv, docs/sources/links.md 1).
inline constexpr double kRootComplexShare = 0.64;

/// Returns the number of the first device of a kind. The order is GPUs, CPUs, PCIe switches, NVSwitches,
/// NICs.
VertexId first_of(const NodeSpec& node, VertexKind kind);

/// Returns the number of a device inside its node by name ("gpu0", "cpu1", "switch0", "nvswitch0", "nic0"),
/// or nothing if there is no such device.
std::optional<VertexId> find_device(const NodeSpec& node, std::string_view name);

/// Returns the name: "gpu0", "cpu1", "switch0", "nvswitch0", "nic0", "leaf3", "spine2", "core1", "router0".
std::string name_of(const Vertex& vertex);

/// Builds the graph of a node. Requires that every link names two devices of the node.
NodeGraph node_graph(const NodeSpec& node);

}  // namespace foretrain
