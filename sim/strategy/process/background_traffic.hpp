// Background traffic: other jobs on the links between switches, as flows concurrent with those of a
// collective.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// Adds a flow of other jobs for each link between two switches that `flows` cross; the flow crosses that
/// link alone. Its weight makes the link as busy as busiest_link_load() expects of the busiest of the
/// `shared_links` links that the job uses. `flows` are those of one node that stands for all. Adds nothing on
/// networks that nobody shares.
void add_background(std::vector<PatternFlow>& flows, const Cluster& cluster, std::size_t shared_links);

/// Returns whether add_background() made this flow.
bool is_background(const PatternFlow& flow, const Cluster& cluster);

}  // namespace foretrain
