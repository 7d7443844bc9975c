// Converts recorded steps for other simulators. Computation keeps its planned duration, since the other
// simulator stretches it itself. Copies, and other traffic that is no collective, keep the duration that they
// had here.
#include "sim/report/simulators/exported_steps.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns the node of a task. Of several dependencies on one task, the longest lag counts.
ExportedNode node_of(const RecordedSteps& recorded, TaskId id) {
  const TaskGraph& graph = recorded.plan.graph;
  const Task& task = graph.tasks()[id];
  const foretrain::Span& ran = recorded.timeline.spans[id];
  ExportedNode node;
  node.kind = task.kind, node.queue = task.queue, node.start = ran.start;
  if (task.label != kNone) node.label = graph.label_text(task.label);
  // The duration of a task with traffic depends on the links, so the simulated one is taken.
  node.duration = task.pattern == kNone ? task.duration : ran.end - ran.start;
  for (const Dependency& dependency : graph.dependencies(id)) {
    const Time lag = dependency.lag > kShortLag ? dependency.lag : Time{};
    const auto known = std::ranges::find(node.after, dependency.before, &ExportedDependency::node);
    if (known == node.after.end())
      node.after.push_back({dependency.before, lag});
    else
      known->lag = std::max(known->lag, lag);
  }
  return node;
}

}  // namespace

// Throws InputError for a strategy that drives several GPUs from one process: an exported rank is a process.
ExportedSteps exported_steps(const RecordedSteps& recorded, const Scenario& scenario) {
  const StrategyEntry& strategy = *find_strategy(scenario.strategy);
  if (strategy.processes != Processes::per_gpu)
    throw InputError(
        fmt::format("{} drives several GPUs from one process, which is not exported", strategy.name),
        "strategies with one process per GPU are, as ddp, horovod, zero2 or fsdp");
  const TaskGraph& graph = recorded.plan.graph;
  ExportedSteps out;
  out.name = fmt::format("{} on {} with {}", scenario.model.name, scenario.cluster.name, strategy.name);
  out.steps = static_cast<int>(recorded.plan.step_ends.size());
  std::vector<int> nodes;
  for (const GpuPlace& place : recorded.job.ranks) nodes.push_back(place.node);
  set_ranks(out, nodes);
  for (const Queue& queue : graph.queues()) out.queues.push_back(queue.name);
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    out.nodes.push_back(node_of(recorded, id));
    for (const Dependency& dependency : graph.dependencies(id)) {
      // Lags are counted for the summary: waits are exported, short lags are left out.
      if (dependency.lag > Time{}) ++(dependency.lag > kShortLag ? out.waits : out.short_lags);
    }
  }
  // Traffic notes tell which tasks are collectives.
  for (const TrafficNote& note : graph.traffic_notes()) {
    const auto tree = static_cast<std::uint8_t>(nccl::Algorithm::tree) + 1;
    out.nodes[note.task].message = {static_cast<CollectiveOp>(note.operation), static_cast<Group>(note.among),
                                    note.way == tree, note.size};
  }
  return out;
}

// Nodes are renumbered from 0 in the order in which ranks refer to them. The place of a rank is its index
// among the ranks of its node.
void set_ranks(ExportedSteps& steps, const std::vector<int>& nodes) {
  std::map<int, int> numbers;
  std::vector<int> ranks_in;
  for (const int node : nodes) {
    const int number = numbers.try_emplace(node, static_cast<int>(numbers.size())).first->second;
    if (static_cast<std::size_t>(number) == ranks_in.size()) ranks_in.push_back(0);
    steps.node_of_rank.push_back(number);
    steps.place_of_rank.push_back(ranks_in[static_cast<std::size_t>(number)]++);
  }
}

// Ranks of a node share its number; ranks across nodes share their place.
std::vector<int> group_of(const ExportedSteps& steps, Group group, int rank) {
  const std::vector<int>& by = group == Group::node ? steps.node_of_rank : steps.place_of_rank;
  std::vector<int> all;
  for (int other = 0; other < steps.ranks(); ++other) {
    if (group == Group::world || by[static_cast<std::size_t>(other)] == by[static_cast<std::size_t>(rank)])
      all.push_back(other);
  }
  return all;
}

}  // namespace foretrain
