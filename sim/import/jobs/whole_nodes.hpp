// Completes jobs that ask for nodes alone, once it is known of which cluster.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// Sets GPUs, nodes and CPUs that only the cluster tells.
/// A request for whole nodes without a number of GPUs, or at a site that gives out nodes alone, gets all GPUs
/// of the cluster's nodes.
/// GPUs of a whole job of PBS are placed on as few nodes as can hold them. A job that is alone on its nodes
/// has all their CPUs. A launcher that counts the GPUs itself starts a process on each.
void take_whole_nodes(JobScript& script, const ClusterSpec& cluster);

}  // namespace foretrain
