// The constants of GPUs, hosts and links that a calibration may replace, and the cluster with replaced
// constants.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Returns the constants of a GPU: "gpu.memory_efficiency", …
const std::vector<ConstantOf<Gpu>>& gpu_constants();
/// Returns the constants of a host: "host.slowdown", …
const std::vector<ConstantOf<Host>>& host_constants();
/// Returns the constants of one type of link: "bandwidth", … name_of_link_constant() makes the whole name.
const std::vector<ConstantOf<LinkType>>& link_constants();

/// Returns the whole name of a link's constant: "link.nvlink3.bandwidth".
std::string name_of_link_constant(const std::string& link, const std::string& constant);

/// Returns the named types of links in a cluster, each once, in the order of their names. Links that the
/// cluster's file describes without a name cannot be calibrated and are left out.
std::vector<LinkType> link_types_of(const ClusterSpec& cluster);

/// Returns the cluster with the constants of `calibration` in its GPUs, hosts and links. What concerns
/// kernels and collectives stays in ClusterSpec::calibration for the models that time them.
ClusterSpec calibrated(ClusterSpec cluster, Calibration calibration);

}  // namespace foretrain
