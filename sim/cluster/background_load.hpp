// The load that other jobs put on the links between a cluster's switches.
#pragma once

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Returns the mean share of a link between two switches that other jobs use, in [0, 1]:
/// FabricSpec::background_load, or the usual value for a site of this kind.
double background_load(const ClusterSpec& cluster);

/// Returns the share of the busiest of `links` shared links that other jobs use, as far as it slows down a
/// job whose messages cross all of them (docs/models/links.md). In [0, 0.5]. O(links) at most.
double busiest_link_load(double mean_load, std::size_t links);

}  // namespace foretrain
