// GPUs of jobs that ask for nodes only, once it is known which cluster's.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// A request for whole nodes that says no number of GPUs, or that lies where the site hands out nodes alone,
/// has all that `cluster`'s nodes have; GPUs of a whole job lie on as few nodes as can hold them. A job that
/// is alone on its nodes has all their CPUs; a launcher that counts the GPUs itself starts a process on each.
void take_whole_nodes(JobScript& script, const ClusterSpec& cluster);

}  // namespace foretrain
