// Finds the cluster of the catalog that a job script is for.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// The clusters that the script's partition, type of GPU, constraints or requirements lead to.
struct ClusterMatch {
  /// Names of the best clusters, which are equally good. A single name is the answer.
  std::vector<std::string> names;
  /// Words of the script that led there, or the reason why nothing did.
  std::string why;
};

/// Returns the clusters that fit best. A cluster fits if it has the same batch system and contradicts nothing
/// that the script says.
/// A partition counts 8 points, a type of GPU 4 and a constraint 1. Among equals, those win whose nodes have
/// the requested GPUs and cores.
ClusterMatch match_cluster(const JobScript& script, const std::vector<ClusterSpec>& clusters);

/// Returns every cluster of the catalog with a table [site]. Reads files and may throw InputError for a wrong
/// one.
std::vector<ClusterSpec> clusters_with_site();

/// Returns the cluster of the script: `name` if the command line gives one, else the match. Of a site with
/// several kinds of node it is the kind that the script leads to.
/// Throws InputError with the candidates if there are several or none.
ClusterSpec choose_cluster(const JobScript& script, const std::string& name);

}  // namespace foretrain
