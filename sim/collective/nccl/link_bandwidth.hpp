// The bandwidths NCCL's graph search books for links, in MB/s; they are its own figures, not what a copy
// reaches.
#pragma once

#include <cstdint>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/version.hpp"

namespace foretrain::nccl {

/// Thousandths of a GB/s: the search rounds to them after every step.
using Milli = std::int32_t;
inline constexpr Milli kLocal = 5'000'000;  ///< what stays inside a device

constexpr Milli to_milli(double gigabytes_per_second) {
  return static_cast<Milli>(gigabytes_per_second * 1000 + 0.5);
}
constexpr double to_gbps(Milli bandwidth) { return bandwidth / 1000.0; }

/// One NVLink of a GPU, per direction (src/graph/topo.h; docs/sources/nccl_tuning.md 4.2).
/// `compute_capability`: 70, 86, ….
Milli nvlink_bandwidthed(const Version& version, int compute_capability);
/// The same, but of a link that says itself what is booked for it: that, as RCCL has figures of its own for
/// Infinity Fabric.
Milli nvlink_bandwidthed(const LinkType& type, const Version& version, int compute_capability);

/// Between two sockets.
Milli socket_bandwidth(const Version& version, HostFamily family);

/// PCIe and network links: LinkType::nccl_bandwidth, or the plain bandwidth where that is not given.
Milli link_bandwidth(const LinkType& type);

bool is_intel(HostFamily family);

}  // namespace foretrain::nccl
