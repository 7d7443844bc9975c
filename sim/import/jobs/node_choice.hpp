// Finds out which nodes of a site a job gets: partition, type of GPU, features and requirements lead to one
// kind.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// Returns the kind of node that the script leads to; `kinds` are those of clusters_of_site().
/// Of several, it is the kind whose nodes have as many GPUs as are requested on each, then that of the
/// default partition. `site` is the name that the user typed.
/// Throws InputError with the script's line where it requests what the site lacks, and with the kinds where
/// it leads to several.
ClusterSpec nodes_for_job(const JobScript& script, const std::vector<ClusterSpec>& kinds,
                          const std::string& site);

}  // namespace foretrain
