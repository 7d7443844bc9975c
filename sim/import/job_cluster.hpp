// Which cluster of the catalog a job script is for.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// The clusters that the script's partition, type of GPU, constraints or requirements lead to, best first.
struct ClusterMatch {
  std::vector<std::string> names;  ///< equally good ones; one: the answer
  std::string why;                 ///< what led there, or why nothing did
};

/// A cluster fits when it is of the same batch system and contradicts nothing the script says. The one that
/// most of what is said leads to is taken: a partition counts more than a type of GPU, that more than a
/// constraint; among equals those whose nodes have the GPUs and cores.
ClusterMatch match_cluster(const JobScript& script, const std::vector<ClusterSpec>& clusters);

/// Every cluster of the catalog that has a table [site]. Reads files.
std::vector<ClusterSpec> clusters_with_site();

/// The script's cluster: `name` where the command line says one, and of a site with several kinds of node the
/// one that the script leads to; else the match. Throws InputError that names the candidates when there are
/// several, or none.
ClusterSpec choose_cluster(const JobScript& script, const std::string& name);

}  // namespace foretrain
