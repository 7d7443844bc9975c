// Copies between GPUs and host memory that all ranks of a node make at the same time. Each copy has its own
// route, and the routes share links.
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// Returns the pattern with one flow for each rank of the representative's node. Patterns are cached by
/// direction and weight.
PatternId Process::host_copies_of_the_node(bool to_gpu, double weight) {
  const auto [known, is_new] = host_patterns_.try_emplace({to_gpu, weight}, kNone);
  if (!is_new) return known->second;
  const Cluster& cluster = request_.cluster;
  std::vector<PatternFlow> flows;
  for (const auto [node, number] : request_.placement.ranks) {
    if (node != gpus_.front().place.node) continue;
    const VertexId cpu = cluster.cpu_of_gpu(node, number), gpu = cluster.gpu(node, number);
    flows.push_back({(to_gpu ? cluster.route(cpu, gpu) : cluster.route(gpu, cpu)).links, weight});
  }
  return known->second = graph_.add_pattern(std::move(flows));
}

/// A copy without a host call; it starts when its stream is free and all of `after` have ended.
TaskId Process::host_copy(const HostCopy& copy) {
  const auto [node, number] = gpus_.front().place;
  const Cluster& cluster = request_.cluster;
  Task task;
  task.kind = TaskKind::copy;
  task.account = static_cast<std::uint8_t>(copy.account);
  task.queue = copy.stream;
  task.duration = cluster.route(cluster.cpu_of_gpu(node, number), cluster.gpu(node, number)).latency;
  task.label = copy.label;
  task.pattern = host_copies_of_the_node(copy.to_gpu, copy.pinned ? 1.0 : kPageableSlowdown);
  task.traffic = copy.bytes;
  // Callers may pass kNone for events that did not happen yet.
  std::vector<Dependency> before;
  for (const TaskId each : copy.after) {
    if (each != kNone) before.push_back({each});
  }
  return graph_.add(task, before);
}

}  // namespace foretrain
