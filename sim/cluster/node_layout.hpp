// The parts of one node in the order they are numbered, and their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

inline constexpr int kStagingLinks = 2;

/// The vertices and directed links of one node; connection i of the NodeSpec is links 2i (a to b) and 2i + 1
/// (b to a). Behind them are kStagingLinks links per GPU from the GPU to itself: what its kernels write to
/// host memory and what they read from there (Gpu::staging_share), because its peer is out of reach.
struct NodeGraph {
  std::vector<Vertex> vertices;
  std::vector<ClusterLink> links;
  LinkId first_staging = 0;
  LinkId staging_out(VertexId gpu) const { return first_staging + kStagingLinks * gpu; }
  LinkId staging_in(VertexId gpu) const { return first_staging + kStagingLinks * gpu + 1; }
};

/// The share of PCIe's rate that peers reach through a CPU's root complex, and one way through host memory:
/// two A100 on different root complexes 14.5 to 16.6 GB/s of 26.3, a NIC on another root complex than its
/// GPU 14.7 and 18.2 GB/s; two RTX 4090 over host memory one way 18 GB/s, two V100 8 to 9 of 12.3
/// (docs/measured/nccl.csv, docs/sources/links.md 1).
inline constexpr double kRootComplexShare = 0.64;

/// Number of the first device of a kind: GPUs, then CPUs, PCIe switches, NVSwitches, NICs.
VertexId first_of(const NodeSpec& node, VertexKind kind);

/// Number of a device inside its node by name ("gpu0", "cpu1", "switch0", "nvswitch0", "nic0"); nothing when
/// there is no such device.
std::optional<VertexId> find_device(const NodeSpec& node, std::string_view name);

/// "gpu0", "cpu1", "switch0", "nvswitch0", "nic0", "leaf3", "spine2", "core1", "router0".
std::string name_of(const Vertex& vertex);

/// Requires that every link names two devices of the node.
NodeGraph node_graph(const NodeSpec& node);

}  // namespace foretrain
