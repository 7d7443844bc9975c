// The numbers of GPUs that a person would request. Unusual numbers of nodes such as 37 are left out, because
// users request round numbers and each candidate costs a simulation.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Returns numbers of nodes: 2, 3, 4, 6, 8, 12, 16, … and the most that a partition or the cluster has.
std::vector<int> nodes_of(const ClusterSpec& cluster) {
  std::vector<int> nodes{cluster.nodes};
  for (int two = 2; two <= cluster.nodes; two *= 2) nodes.insert(nodes.end(), {two, two + two / 2});
  for (const Partition& partition : cluster.site.partitions)
    nodes.insert(nodes.end(), {partition.most_nodes, partition.most_gpus / std::max(1, cluster.node.gpus)});
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::erase_if(nodes, [&](int n) { return n < 2 || n > cluster.nodes; });
  return nodes;
}

/// Returns every number in one node, then whole nodes, as far as a global batch can be divided.
std::vector<int> numbers_of(const Scenario& scenario) {
  const int per_node = std::max(1, first_node(scenario).gpus);
  const std::int64_t most = scenario.global_batch.value_or(std::numeric_limits<int>::max());
  std::vector<int> numbers;
  for (int gpus = 1; gpus <= std::min<std::int64_t>(per_node, most); ++gpus) numbers.push_back(gpus);
  for (const int nodes : nodes_of(scenario.cluster)) {
    if (std::int64_t{nodes} * per_node <= most) numbers.push_back(nodes * per_node);
  }
  return numbers;
}

}  // namespace

namespace {

/// Returns true if all nodes of the job are of one kind, because a request names one kind.
bool is_on_one_kind(const Scenario& scenario, const Placement& placement) {
  return std::ranges::all_of(placement.ranks, [&](const GpuPlace& rank) {
    return kind_of_node(scenario.cluster, rank.node) ==
           kind_of_node(scenario.cluster, placement.ranks.front().node);
  });
}

}  // namespace

/// Batch systems request GPUs by node, so nodes must have equally many.
bool can_be_requested(const Scenario& scenario, int gpus) {
  if (gpus > gpus_of_job(scenario)) return false;
  const Placement placement = reserved_gpus(scenario, gpus);
  if (is_mixed(scenario.cluster) && !is_on_one_kind(scenario, placement)) return false;
  const int nodes = placement.nodes;
  return gpus % nodes == 0 && is_given(scenario.cluster.site, gpus, nodes) &&
         why_not_together(scenario, gpus).empty();
}

std::vector<int> requestable_gpu_counts(const Scenario& scenario) {
  std::vector<int> numbers = numbers_of(scenario);
  std::erase_if(
      numbers, [&](int gpus) { return !can_be_requested(scenario, gpus) || !may_be_answer(scenario, gpus); });
  return numbers;
}

}  // namespace foretrain
