// The constants of GPUs, hosts and links that a calibration may replace, and the cluster with them in place.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// "gpu.memory_efficiency", …
const std::vector<ConstantOf<Gpu>>& gpu_constants();
/// "host.slowdown", …
const std::vector<ConstantOf<Host>>& host_constants();
/// "bandwidth", …: of one type of link; name_of_link_constant() makes the whole name.
const std::vector<ConstantOf<LinkType>>& link_constants();

/// "link.nvlink3.bandwidth".
std::string name_of_link_constant(const std::string& link, const std::string& constant);

/// The types of links in a cluster, each once, in the order of their names.
std::vector<LinkType> link_types_of(const ClusterSpec& cluster);

/// The cluster with the constants of `calibration` in its GPU, host and links; what concerns kernels and
/// collectives stays in ClusterSpec::calibration for those who time them.
ClusterSpec calibrated(ClusterSpec cluster, Calibration calibration);

}  // namespace foretrain
