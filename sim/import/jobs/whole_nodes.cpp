// The node in the cluster file counts here. Partitions with different nodes are clusters of their own.
#include "sim/import/jobs/whole_nodes.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Spreads GPUs of a whole job of PBS over nodes: "-l ngpus=8" on nodes with four GPUs is two nodes.
void spread_over_nodes(JobScript& script, int gpus_of_node) {
  JobResources& have = script.resources;
  const Field<int>& all = script.request.gpus;
  // The nodes were not stated: the reader assumed one, which has no line.
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

/// Says whether only the partition tells that a job wants GPUs: jobs get whole nodes, and neither a type of
/// GPU nor a constraint exists to ask for (Frontier, Vista).
bool hands_out_nodes(const Site& site) {
  return site.gpu_type.empty() && site.constraints.empty() && !site.partitions.empty() &&
         std::ranges::all_of(site.partitions, &Partition::whole_nodes);
}

/// Says whether the partition of the job, or every partition, gives out whole nodes.
bool is_given_whole(const Site& site, const JobRequest& asked) {
  if (!asked.partition)
    return !site.partitions.empty() && std::ranges::all_of(site.partitions, &Partition::whole_nodes);
  const std::string_view name =
      std::string_view(asked.partition->value).substr(0, asked.partition->value.find(','));
  const auto own = std::ranges::find(site.partitions, name, &Partition::name);
  return own != site.partitions.end() && own->whole_nodes;
}

/// Gives a job that is alone on its nodes all their CPUs, except for tasks that srun binds to the CPUs they
/// ask for.
void take_all_cpus(JobScript& script, const ClusterSpec& cluster) {
  const JobRequest& asked = script.request;
  const bool is_alone = asked.exclusive || is_given_whole(cluster.site, asked);
  const bool is_bound = script.launch.cpus_per_node || (asked.cpus_per_task && script.launch.started_by &&
                                                        script.launch.started_by->value == StartedBy::srun);
  Field<int>& cpus = script.resources.cpus_per_node;
  if (!is_alone || is_bound || (cpus && cpus->value >= cluster.node.host.cores)) return;
  if (cluster.node.host.cores > 0)
    cpus = Found<int>{cluster.node.host.cores, asked.exclusive ? asked.exclusive->span : SourceSpan{}};
}

/// Says whether a request states GPUs.
bool asks_for_gpus(const JobRequest& asked) {
  return asked.gpus || asked.gpus_per_node || asked.gpus_per_task;
}

/// Sets the processes of launchers that start one for each GPU: deepspeed, and torchrun --nproc_per_node=gpu.
void count_processes(JobScript& script) {
  JobLaunch& launch = script.launch;
  const Field<int>& gpus = script.resources.gpus_per_node;
  if (launch.follows_gpus && launch.started_by && !launch.processes_per_node && gpus && gpus->value > 0)
    launch.processes_per_node = Found<int>{gpus->value, launch.started_by->span};
}

/// Sets nodes, GPUs and CPUs. The order matters: GPUs of a whole job are spread before CPUs are given.
void take_nodes(JobScript& script, const ClusterSpec& cluster) {
  JobResources& have = script.resources;
  if (cluster.node.gpus < 1) return;
  spread_over_nodes(script, cluster.node.gpus);
  take_all_cpus(script, cluster);
  if (script.request.whole_nodes && !have.cpus_per_node && cluster.node.host.cores > 0)
    have.cpus_per_node = Found<int>{cluster.node.host.cores, {}};
  const bool says_so = script.request.whole_nodes && !have.gpus_per_node;
  const bool by_site = !asks_for_gpus(script.request) && hands_out_nodes(cluster.site);
  if ((!says_so && !by_site) || !have.nodes || have.nodes->value < 1) return;
  // A site that gives out nodes cannot give more than it has.
  const std::int64_t nodes = by_site ? std::min(have.nodes->value, cluster.nodes) : have.nodes->value;
  have.gpus_per_node = Found<int>{cluster.node.gpus, have.nodes->span};
  have.gpus = Found<int>{static_cast<int>(std::min<std::int64_t>(nodes * cluster.node.gpus, 1 << 30)),
                         have.nodes->span};
}

}  // namespace

void take_whole_nodes(JobScript& script, const ClusterSpec& cluster) {
  take_nodes(script, cluster);
  count_processes(script);
}

}  // namespace foretrain
