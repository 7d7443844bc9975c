// Which nodes of a site a job gets: its partition, type of GPU, features and requirements lead to one kind.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// The one of `kinds` (clusters_of_site()) that the script leads to; among several the one whose nodes have
/// as many GPUs as are asked for on each, then that of the default partition. `site` is the name that the
/// user typed. Throws InputError with the script's line where it asks for what is not there, and without a
/// line, with the kinds, where it leads to several.
ClusterSpec nodes_for_job(const JobScript& script, const std::vector<ClusterSpec>& kinds,
                          const std::string& site);

}  // namespace foretrain
