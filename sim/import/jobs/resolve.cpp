// Slurm's rules for what a request leaves open (man sbatch), with one function for each question.
// Other batch systems translate their requests into the same terms first. A field without a value is unknown,
// and what depends on it stays unknown.
#include <algorithm>

#include "sim/import/job_script.hpp"

namespace foretrain {

namespace {

/// Returns a / b, rounded up.
int ceiling(int a, int b) { return b < 1 ? a : (a + b - 1) / b; }

/// Returns a product, bounded so that counts from a text cannot overflow.
int product(int a, int b) {
  return static_cast<int>(std::min<std::int64_t>(std::int64_t{a} * b, 1'000'000'000));
}

/// Returns the nodes: as requested, else as many as the tasks or GPUs need, else 1. A range is a single
/// number only if the tasks decide it.
Field<int> nodes_of(const JobRequest& request) {
  const bool is_range =
      request.most_nodes && request.nodes && request.most_nodes->value != request.nodes->value;
  if (request.nodes && !is_range) return request.nodes;
  if (request.tasks && request.tasks_per_node && request.tasks_per_node->value > 0)
    return Found<int>{std::max(1, ceiling(request.tasks->value, request.tasks_per_node->value)), {}};
  if (is_range) return {};
  if (request.gpus && request.gpus_per_node && request.gpus_per_node->value > 0)
    return Found<int>{std::max(1, ceiling(request.gpus->value, request.gpus_per_node->value)), {}};
  return Found<int>{1, {}};
}

/// Returns the GPUs of the job. A request without any has none, unless it gets whole nodes.
Field<int> gpus_of(const JobRequest& request, const Field<int>& nodes, const Field<int>& tasks) {
  if (request.gpus) return request.gpus;
  if (request.gpus_per_node && nodes)
    return Found<int>{product(request.gpus_per_node->value, nodes->value), request.gpus_per_node->span};
  if (request.gpus_per_node) return {};
  if (request.gpus_per_task && tasks)
    return Found<int>{product(request.gpus_per_task->value, tasks->value), request.gpus_per_task->span};
  if (request.gpus_per_task || request.whole_nodes) return {};
  return Found<int>{0, {}};
}

/// Returns the GPUs of each node, shared out evenly and rounded up.
Field<int> gpus_per_node_of(const JobRequest& request, const Field<int>& gpus, const Field<int>& nodes) {
  if (request.gpus_per_node) return request.gpus_per_node;
  if (!gpus || !nodes) return {};
  return Found<int>{ceiling(gpus->value, nodes->value), gpus->span};
}

/// Returns the tasks of the job: as requested, else by nodes or GPUs, else one for each node.
Field<int> tasks_of(const JobRequest& request, const Field<int>& nodes) {
  if (request.tasks) return request.tasks;
  if (request.tasks_per_node && nodes)
    return Found<int>{product(request.tasks_per_node->value, nodes->value), {}};
  if (request.tasks_per_node) return {};
  if (request.gpus && request.gpus_per_task && request.gpus_per_task->value > 0)
    return Found<int>{ceiling(request.gpus->value, request.gpus_per_task->value), {}};
  if (request.tasks_per_gpu && request.gpus)
    return Found<int>{product(request.gpus->value, request.tasks_per_gpu->value), {}};
  if (request.tasks_per_gpu && request.gpus_per_node && nodes)
    return Found<int>{
        product(product(request.gpus_per_node->value, request.tasks_per_gpu->value), nodes->value), {}};
  return nodes ? Field<int>(Found<int>{nodes->value, {}}) : Field<int>();
}

/// Returns the tasks of each node. A stated number counts only if it agrees with the tasks of the job.
Field<int> tasks_per_node_of(const JobRequest& request, const Field<int>& tasks, const Field<int>& nodes) {
  if (!tasks || !nodes) return request.tasks_per_node;
  if (request.tasks_per_node && product(request.tasks_per_node->value, nodes->value) == tasks->value)
    return request.tasks_per_node;
  return Found<int>{ceiling(tasks->value, nodes->value), {}};
}

/// Returns the CPUs of each node, by GPUs or by tasks.
Field<int> cpus_per_node_of(const JobRequest& request, const JobResources& out) {
  if (request.cpus_per_gpu && !request.cpus_per_task && out.gpus_per_node)
    return Found<int>{product(request.cpus_per_gpu->value, out.gpus_per_node->value),
                      request.cpus_per_gpu->span};
  if (!out.cpus_per_task || !out.tasks_per_node) return {};
  return Found<int>{product(out.cpus_per_task->value, out.tasks_per_node->value), out.cpus_per_task->span};
}

/// Returns the CPUs of a task, which are 1 by default.
Field<int> cpus_per_task_of(const JobRequest& request, const JobResources& out) {
  if (request.cpus_per_task) return request.cpus_per_task;
  if (!request.cpus_per_gpu) return Found<int>{1, {}};
  if (!out.gpus_per_node || !out.tasks_per_node || out.tasks_per_node->value < 1) return {};
  return Found<int>{
      product(request.cpus_per_gpu->value, out.gpus_per_node->value) / out.tasks_per_node->value,
      request.cpus_per_gpu->span};
}

/// Returns the memory of each node: as requested, else by GPUs or by CPUs. No value where the product would
/// overflow.
Field<MemoryRequest> memory_of(const JobRequest& request, const JobResources& out) {
  if (request.memory) return request.memory;
  const auto each = [](const Field<MemoryRequest>& part, const Field<int>& count) -> Field<MemoryRequest> {
    if (!count) return {};
    if (part->value.whole_node) return part;
    if (count->value > 0 && part->value.bytes.count > (std::int64_t{1} << 62) / count->value) return {};
    return Found<MemoryRequest>{{part->value.bytes * count->value, false}, part->span};
  };
  if (request.memory_per_gpu) return each(request.memory_per_gpu, out.gpus_per_node);
  if (request.memory_per_cpu) return each(request.memory_per_cpu, out.cpus_per_node);
  return {};
}

}  // namespace

// The order matters: each step uses the results of those before it.
JobResources resolve(const JobRequest& request) {
  JobResources out;
  if (!request.asks) return out;
  out.nodes = nodes_of(request);
  out.tasks = tasks_of(request, out.nodes);
  out.gpus = gpus_of(request, out.nodes, out.tasks);
  out.gpus_per_node = gpus_per_node_of(request, out.gpus, out.nodes);
  out.tasks_per_node = tasks_per_node_of(request, out.tasks, out.nodes);
  out.cpus_per_task = cpus_per_task_of(request, out);
  out.cpus_per_node = cpus_per_node_of(request, out);
  out.memory_per_node = memory_of(request, out);
  // A job that is alone on its nodes has all their CPUs, and how many these are only the cluster knows.
  if (request.exclusive && !request.cpus_per_task && !request.cpus_per_gpu) out.cpus_per_node.reset();
  return out;
}

int training_nodes(const JobScript& script) {
  const JobLaunch& launch = script.launch;
  const int nodes = script.resources.nodes ? script.resources.nodes->value : 0;
  // A launcher whose options name several nodes is meant to train on them together.
  const bool meant_together = launch.awaited_nodes && launch.awaited_nodes->value > 1;
  // Starts on several nodes are trainings of their own, so the job trains on one node, several times.
  if (launch.alone && !meant_together && launch.nodes && launch.nodes->value > 1) return 1;
  if (!launch.nodes || launch.nodes->value < 1) return nodes;
  // Several lines, or a loop, may start a launcher that waits for more nodes: each start is another node.
  const bool by_other_lines = (launch.repeated || launch.lines > 1) && launch.awaited_nodes &&
                              launch.awaited_nodes->value > launch.nodes->value;
  if (by_other_lines) return nodes;
  return std::min(nodes, launch.nodes->value);
}

// A launch on fewer nodes than the job has uses only their GPUs.
int gpus_of_training(const JobScript& script) {
  const JobResources& have = script.resources;
  // There are no GPUs to train on, or their number is unknown.
  if (!have.gpus || have.gpus->value < 1) return 0;
  const int nodes = training_nodes(script);
  if (nodes < 1 || !have.nodes || nodes >= have.nodes->value || !have.gpus_per_node) return have.gpus->value;
  return std::min(have.gpus->value, product(nodes, have.gpus_per_node->value));
}

}  // namespace foretrain
