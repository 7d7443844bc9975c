// How far apart two devices are, in the classes of NCCL and nvidia-smi.
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrain {

class Cluster;
using VertexId = std::uint32_t;

/// Best first, as NCCL orders them (src/graph/topo.h): loc the device itself; nvl NVLink, direct or through
/// NVSwitches; nvb NVLink through one other GPU; c2c NVLink to a CPU; pix PCIe through at most one switch;
/// pxb through several switches; pxn NVLink to a GPU that is near the NIC; phb through a CPU, or through
/// several that no socket link separates (nvidia-smi's NODE); sys over a socket link; net another node.
enum class PathClass : std::uint8_t { loc, nvl, nvb, c2c, pix, pxb, pxn, phb, sys, net };

/// "LOC", "NVL", …
std::string_view name_of(PathClass path);

/// The best class of ways from one device to another. pxn exists only from a GPU to a NIC.
PathClass path_class(const Cluster& cluster, VertexId from, VertexId to);

/// The class of the way over PCIe, CPUs and socket links alone: without NVLink between GPUs, without a relay.
/// Requires one node.
PathClass host_path_class(const Cluster& cluster, VertexId from, VertexId to);

/// Index of the NIC a GPU uses: of those in the best class the nearest ones, in turn over the GPUs that have
/// the same choice. -1: no NIC.
int nearest_nic(const Cluster& cluster, int gpu, int node = 0);

}  // namespace foretrain
