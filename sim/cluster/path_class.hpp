// The distance between two devices, in the classes of NCCL and nvidia-smi.
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrain {

class Cluster;
using VertexId = std::uint32_t;

/// Classes of paths, best first, as NCCL orders them (src/graph/topo.h).
/// loc: the device itself. nvl: NVLink, direct or through NVSwitches. nvb: NVLink through one other GPU.
/// c2c: NVLink to a CPU. pix: PCIe through at most one switch. pxb: PCIe through several switches.
/// pxn: NVLink to a GPU that is near the NIC. phb: through a CPU, or through several that no socket link
/// separates (nvidia-smi's NODE). sys: over a socket link. net: to another node.
enum class PathClass : std::uint8_t { loc, nvl, nvb, c2c, pix, pxb, pxn, phb, sys, net };

/// Returns the name in capitals: "LOC", "NVL", …
std::string_view name_of(PathClass path);

/// Returns the best class of the routes from one device to another. pxn exists only from a GPU to a NIC.
PathClass path_class(const Cluster& cluster, VertexId from, VertexId to);

/// Returns the class of the route over PCIe, CPUs and socket links alone: without NVLink between GPUs and
/// without a relay. Requires devices of one node.
PathClass host_path_class(const Cluster& cluster, VertexId from, VertexId to);

/// Returns the index of the NIC that a GPU uses. Candidates are the nearest NICs of the best class; GPUs with
/// the same candidates use them in turn. Returns -1 if there is no NIC.
int nearest_nic(const Cluster& cluster, int gpu, int node = 0);

}  // namespace foretrain
