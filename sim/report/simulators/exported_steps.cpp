// Computation keeps the duration it was planned with, as others stretch it themselves; copies and what else
// moves bytes without being a collective stand as long as they took here.
#include "sim/report/simulators/exported_steps.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

ExportedNode node_of(const RecordedSteps& recorded, TaskId id) {
  const TaskGraph& graph = recorded.plan.graph;
  const Task& task = graph.tasks()[id];
  const foretrain::Span& ran = recorded.timeline.spans[id];
  ExportedNode node;
  node.kind = task.kind, node.queue = task.queue, node.start = ran.start;
  if (task.label != kNone) node.label = graph.label_text(task.label);
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
  for (const GpuPlace& place : recorded.job.ranks) out.node_of_rank.push_back(place.node);
  for (const Queue& queue : graph.queues()) out.queues.push_back(queue.name);
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    out.nodes.push_back(node_of(recorded, id));
    for (const Dependency& dependency : graph.dependencies(id)) {
      if (dependency.lag > Time{}) ++(dependency.lag > kShortLag ? out.waits : out.short_lags);
    }
  }
  for (const TrafficNote& note : graph.traffic_notes()) {
    const auto tree = static_cast<std::uint8_t>(nccl::Algorithm::tree) + 1;
    out.nodes[note.task].message = {static_cast<CollectiveOp>(note.operation), static_cast<Group>(note.among),
                                    note.way == tree, note.size};
  }
  return out;
}

std::vector<int> group_of(const ExportedSteps& steps, Group group, int rank) {
  std::vector<int> all;
  const auto place_in_node = [&](int of) {
    int place = 0;
    for (int other = 0; other < of; ++other)
      place += steps.node_of_rank[static_cast<std::size_t>(other)] ==
                       steps.node_of_rank[static_cast<std::size_t>(of)]
                   ? 1
                   : 0;
    return place;
  };
  const int own_node = steps.node_of_rank[static_cast<std::size_t>(rank)];
  const int own_place = group == Group::across ? place_in_node(rank) : 0;
  for (int other = 0; other < steps.ranks(); ++other) {
    const bool same_node = steps.node_of_rank[static_cast<std::size_t>(other)] == own_node;
    const bool in = group == Group::world || (group == Group::node && same_node) ||
                    (group == Group::across && place_in_node(other) == own_place);
    if (in) all.push_back(other);
  }
  return all;
}

}  // namespace foretrain
