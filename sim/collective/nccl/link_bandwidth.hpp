// The bandwidths that NCCL's graph search assumes for links, in MB/s. They are NCCL's own figures and not
// what a copy reaches.
#pragma once

#include <cstdint>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/version.hpp"

namespace foretrain::nccl {

/// Thousandths of a GB/s. The search rounds to them after every step.
using Milli = std::int32_t;
/// Bandwidth of a transfer that stays inside a device.
inline constexpr Milli kLocal = 5'000'000;

constexpr Milli to_milli(double gigabytes_per_second) {
  return static_cast<Milli>(gigabytes_per_second * 1000 + 0.5);
}
constexpr double to_gbps(Milli bandwidth) { return bandwidth / 1000.0; }

/// Returns the bandwidth of one NVLink of a GPU per direction (src/graph/topo.h; docs/sources/nccl_tuning.md
/// 4.2). `compute_capability` is 70, 86, …
Milli nvlink_bandwidth(const Version& version, int compute_capability);
/// Returns the same, or the link's own nccl_bandwidth if it has one, because RCCL has figures of its own for
/// Infinity Fabric.
Milli nvlink_bandwidth(const LinkType& type, const Version& version, int compute_capability);

/// Returns the bandwidth between two sockets.
Milli socket_bandwidth(const Version& version, HostFamily family);

/// Returns the bandwidth of a PCIe or network link: LinkType::nccl_bandwidth, or the plain bandwidth if that
/// is not given.
Milli link_bandwidth(const LinkType& type);

bool is_intel(HostFamily family);

}  // namespace foretrain::nccl
