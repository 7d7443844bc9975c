// What other jobs take of the links between a cluster's switches.
#pragma once

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Mean share of a link between two switches that other jobs use: FabricSpec::background_load, or what is
/// usual at a site of this kind.
double background_load(const ClusterSpec& cluster);

/// The share of the busiest of `links` shared links that other jobs use, as far as it slows down a job whose
/// message crosses all of them (docs/models/network.md). In [0, 0.5].
double busiest_link_load(double mean_load, std::size_t links);

}  // namespace foretrain
