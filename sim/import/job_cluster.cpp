// A cluster gets points for what agrees with the script, and drops out for what contradicts it.
#include "sim/import/job_cluster.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/gpu_requirements.hpp"
#include "sim/import/jobs/node_choice.hpp"
#include "sim/import/jobs/requested_gpus.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

/// A cluster that drops out, and the points of each kind of agreement. A partition counts more than
/// everything else, since its names are the site's own.
constexpr int kOut = -1, kPartition = 8, kGpuType = 4, kConstraint = 1;

/// Partitions of machines that are known but in no catalog, because their GPUs (Intel's) are not.
struct ForeignPartition {
  std::string_view name, machine;
};
constexpr std::array<ForeignPartition, 1> kForeignPartitions{{{"pvc", "Stampede3"}}};

/// Returns the points for the partition. Slurm allows several with commas; one of them is enough.
int points_for_partition(const JobScript& script, const Site& site) {
  const auto& asked = script.request.partition;
  if (!asked || site.partitions.empty()) return 0;
  for (const std::string_view name : split_at(asked->value, ',')) {
    if (std::any_of(site.partitions.begin(), site.partitions.end(),
                    [&](const Partition& own) { return own.name == name; }))
      return kPartition;
  }
  return kOut;
}

/// Returns the points for the constraints, all of which must be features of the site.
int points_for_constraints(const JobScript& script, const Site& site) {
  int points = 0;
  for (const Found<std::string>& feature : script.request.constraints) {
    const bool has =
        std::find(site.constraints.begin(), site.constraints.end(), feature.value) != site.constraints.end();
    if (!has) return kOut;
    points += kConstraint;
  }
  return points;
}

/// Returns the points under Slurm and similar systems.
int points_under_slurm(const JobScript& script, const ClusterSpec& cluster) {
  const int partition = points_for_partition(script, cluster.site),
            constraints = points_for_constraints(script, cluster.site);
  const auto& type = script.request.gpu_type;
  // A single contradiction drops a cluster, however much else agrees.
  if (partition == kOut || constraints == kOut) return kOut;
  if (type && !is_gpu_of_type(type->value, cluster.site.gpu_type)) return kOut;
  return partition + constraints + (type ? kGpuType : 0);
}

/// Returns the points under HTCondor, whose jobs choose GPUs by expressions.
int points_under_condor(const JobScript& script, const ClusterSpec& cluster) {
  int points = 0;
  for (const Found<std::string>& expression : script.request.requirements) {
    const auto holds = satisfies(cluster.node.gpu, expression.value);
    if (holds == false) return kOut;
    // An expression that also asks for drivers stays unknown as a whole. What counts is that it does not
    // fail.
    points += kConstraint;
  }
  return points;
}

/// Says whether the nodes have what is requested of each. It only decides between equals, since asking for
/// too much is a mistake that the checks report.
bool fits_on_cluster(const JobScript& script, const ClusterSpec& cluster) {
  const JobResources& asked = script.resources;
  const bool gpus = !asked.gpus_per_node || asked.gpus_per_node->value <= cluster.node.gpus;
  // CPUs of a request may be hardware threads, of which a core has two.
  const bool cores = !asked.cpus_per_node || asked.cpus_per_node->value <= 2 * cluster.node.host.cores;
  return gpus && cores && (!asked.nodes || asked.nodes->value <= cluster.nodes);
}

/// Returns what the script says that leads to a cluster, in words.
std::string said_by(const JobScript& script) {
  std::vector<std::string> parts;
  const JobRequest& request = script.request;
  if (request.partition) parts.push_back(fmt::format("partition {}", request.partition->value));
  if (request.gpu_type) parts.push_back(fmt::format("GPU type {}", request.gpu_type->value));
  for (const auto& feature : request.constraints)
    parts.push_back(fmt::format("constraint {}", feature.value));
  for (const auto& expression : request.requirements)
    parts.push_back(fmt::format("requirement {}", expression.value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns the reason why no cluster fits.
std::string why_none(const JobScript& script) {
  for (const ForeignPartition& foreign : kForeignPartitions) {
    if (script.request.partition && script.request.partition->value == foreign.name)
      return fmt::format("partition {} is of {}, whose GPUs (Intel) are in no catalog", foreign.name,
                         foreign.machine);
  }
  const std::string said = said_by(script);
  return said.empty() ? "the script names no partition, type of GPU or constraint"
                      : "no cluster of the catalog has " + said;
}

}  // namespace

ClusterMatch match_cluster(const JobScript& script, const std::vector<ClusterSpec>& clusters) {
  // `room` says that the nodes have what is requested of each.
  struct Scored {
    int points;
    bool room;
    std::string name;
  };
  std::vector<Scored> scored;
  for (const ClusterSpec& cluster : clusters) {
    // A cluster with another batch system cannot run the script at all.
    if (cluster.site.system != script.system) continue;
    const int points = script.system == BatchSystem::htcondor ? points_under_condor(script, cluster)
                                                              : points_under_slurm(script, cluster);
    // Agreement in nothing is no evidence, so clusters without points are left out.
    if (points > 0) scored.push_back({points, fits_on_cluster(script, cluster), cluster.name});
  }
  ClusterMatch match;
  if (scored.empty()) return match.why = why_none(script), match;
  const auto better = [](const Scored& a, const Scored& b) {
    return std::pair(a.points, a.room) < std::pair(b.points, b.room);
  };
  // The best score, and then every cluster that is not worse.
  const Scored best = *std::max_element(scored.begin(), scored.end(), better);
  for (const Scored& row : scored) {
    if (!better(row, best)) match.names.push_back(row.name);
  }
  match.why = said_by(script);
  return match;
}

std::vector<ClusterSpec> clusters_with_site() {
  std::vector<ClusterSpec> out;
  for (const std::string& name : names_in(CatalogKind::clusters)) {
    const auto source = open_named(CatalogKind::clusters, name);
    // The text is searched first, because opening a cluster reads more files.
    if (source && source->text.find("[site]") != std::string::npos) out.push_back(open_cluster(name));
  }
  return out;
}

ClusterSpec choose_cluster(const JobScript& script, const std::string& name) {
  // The user's own name goes before everything that the script says.
  if (!name.empty()) return nodes_for_job(script, open_parts(name), name);
  // Clusters without a site have no partitions or types by which a script could name them.
  std::vector<ClusterSpec> clusters = clusters_with_site();
  const ClusterMatch match = match_cluster(script, clusters);
  if (match.names.size() == 1)
    return std::move(*std::find_if(clusters.begin(), clusters.end(), [&](const ClusterSpec& cluster) {
      return cluster.name == match.names[0];
    }));
  if (match.names.empty())
    throw InputError(fmt::format("{}: which cluster is it for? {}", script.file, match.why),
                     "give --cluster NAME");
  throw InputError(fmt::format("{}: which cluster is it for? Several have {}: {}", script.file, match.why,
                               fmt::join(match.names, ", ")),
                   fmt::format("give --cluster NAME, as in --cluster {}", match.names[0]));
}

}  // namespace foretrain
