// The node that the cluster file describes counts: partitions of unlike nodes are clusters of their own.
#include "sim/import/jobs/whole_nodes.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// -l ngpus=8 of PBS on nodes of four are two nodes.
void spread_over_nodes(JobScript& script, int gpus_of_node) {
  JobResources& have = script.resources;
  const Field<int>& all = script.request.gpus;
  const bool by_rule = have.nodes && have.nodes->value == 1 && have.nodes->span.line == 0;
  if (script.system != BatchSystem::pbs || !all || !by_rule || all->value <= gpus_of_node) return;
  const int nodes = (all->value + gpus_of_node - 1) / gpus_of_node;
  have.nodes = Found<int>{nodes, all->span};
  have.gpus_per_node = Found<int>{(all->value + nodes - 1) / nodes, all->span};
  for (Field<int>* cpus : {&have.cpus_per_node, &have.cpus_per_task}) {
    if (*cpus) (*cpus)->value = std::max(1, (*cpus)->value / nodes);
  }
  if (have.memory_per_node)
    have.memory_per_node->value.bytes = Bytes{have.memory_per_node->value.bytes.count / nodes};
}

/// Where jobs get whole nodes and no type of GPU and no constraint exists to ask for (Frontier, Vista),
/// nothing but the partition says that a job wants GPUs.
bool hands_out_nodes(const Site& site) {
  return site.gpu_type.empty() && site.constraints.empty() && !site.partitions.empty() &&
         std::ranges::all_of(site.partitions, &Partition::whole_nodes);
}

bool asks_for_gpus(const JobRequest& asked) {
  return asked.gpus || asked.gpus_per_node || asked.gpus_per_task;
}

}  // namespace

void take_whole_nodes(JobScript& script, const ClusterSpec& cluster) {
  JobResources& have = script.resources;
  if (cluster.node.gpus < 1) return;
  spread_over_nodes(script, cluster.node.gpus);
  if (script.request.whole_nodes && !have.cpus_per_node && cluster.node.host.cores > 0)
    have.cpus_per_node = Found<int>{cluster.node.host.cores, {}};
  const bool says_so = script.request.whole_nodes && !have.gpus_per_node;
  const bool by_site = !asks_for_gpus(script.request) && hands_out_nodes(cluster.site);
  if ((!says_so && !by_site) || !have.nodes || have.nodes->value < 1) return;
  const std::int64_t nodes = by_site ? std::min(have.nodes->value, cluster.nodes) : have.nodes->value;
  have.gpus_per_node = Found<int>{cluster.node.gpus, have.nodes->span};
  have.gpus = Found<int>{static_cast<int>(std::min<std::int64_t>(nodes * cluster.node.gpus, 1 << 30)),
                         have.nodes->span};
}

}  // namespace foretrain
