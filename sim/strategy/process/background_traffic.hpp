// Other jobs on the links between switches, as flows beside those of a collective.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// Adds, for each link between two switches that `flows` cross, a flow of other jobs on that link alone, as
/// large as the busiest of the job's `shared_links` makes it (busiest_link_load): `flows` are those of one
/// node that stands for all. Nothing on networks that nobody shares.
void add_background(std::vector<PatternFlow>& flows, const Cluster& cluster, std::size_t shared_links);

/// Whether add_background() made it.
bool is_background(const PatternFlow& flow, const Cluster& cluster);

}  // namespace foretrain
