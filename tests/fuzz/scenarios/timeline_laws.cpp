// Laws of a recorded step: causes come before effects, queues and pools are not overdrawn, links carry no
// more than they can, and a machine whose times are twice as long takes twice as long.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/engine/executor.hpp"
#include "tests/fuzz/scenarios/step_laws.hpp"

namespace foretrain::test {

void law(bool holds, const char* name) {
  if (holds) return;
  std::fprintf(stderr, "law broken: %s\n", name);
  std::abort();
}

namespace {

using CapacityOf = std::function<ByteRate(LinkId)>;

/// Each end of a flow is rounded up to one.
constexpr Time kPicosecond{1};

void check_causes(const TaskGraph& graph, const Timeline& timeline) {
  law(timeline.spans.size() == graph.tasks().size(), "every task ran");
  for (TaskId id = 0; id < timeline.spans.size(); ++id) {
    const Span& span = timeline.spans[id];
    law(span.start >= Time::zero() && span.end - span.start >= graph.tasks()[id].duration,
        "a task takes its time");
    for (const Dependency& d : graph.dependencies(id))
      law(span.start >= timeline.end_of(d.before) + d.lag, "no task starts before what it waits for");
    const Time released =
        span.released_by == kNone ? Time::zero() : timeline.end_of(span.released_by) + span.lag;
    law(span.start == released, "a task starts when it was released");
  }
}

void check_queues(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<Time> free(graph.queues().size());
  for (TaskId id = 0; id < timeline.spans.size(); ++id) {
    Time& end = free[graph.tasks()[id].queue];
    law(timeline.spans[id].start >= end, "a queue runs one task after the other");
    end = timeline.end_of(id);
  }
}

void check_pools(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<std::map<Time, int>> changes(graph.pools().size());
  for (TaskId id = 0; id < timeline.spans.size(); ++id) {
    if (graph.tasks()[id].pool == kNone) continue;
    ++changes[graph.tasks()[id].pool][timeline.spans[id].start];
    --changes[graph.tasks()[id].pool][timeline.end_of(id)];
  }
  for (PoolId pool = 0; pool < changes.size(); ++pool) {
    int taken = 0;
    for (const auto& [at, by] : changes[pool])
      law((taken += by) <= static_cast<int>(graph.pools()[pool].capacity),
          "a pool lends no more than it has");
  }
}

/// What one link was asked to carry, and when.
struct LinkDuty {
  double bytes = 0;
  std::size_t flows = 0;
  std::vector<std::pair<Time, Time>> busy;

  /// Of the union of all stretches.
  double seconds() {
    std::ranges::sort(busy);
    Time sum{}, reached{};
    for (const auto& [from, until] : busy) {
      if (until > reached) sum += until - std::max(from, reached);
      reached = std::max(reached, until);
    }
    return to_seconds(sum);
  }
};

void check_links(const TaskGraph& graph, const Timeline& timeline, const CapacityOf& capacity_of) {
  constexpr double kRounding = 1e-9;
  std::map<LinkId, LinkDuty> duties;
  for (TaskId id = 0; id < timeline.spans.size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.pattern == kNone) continue;
    for (const PatternFlow& flow : graph.pattern(task.pattern)) {
      for (const LinkId link : flow.route) {
        LinkDuty& duty = duties[link];
        duty.bytes += flow.weight * static_cast<double>(task.traffic.count), ++duty.flows;
        duty.busy.emplace_back(timeline.spans[id].start + task.duration, timeline.end_of(id));
      }
    }
  }
  for (auto& [link, duty] : duties) {
    const double capacity = capacity_of(link).per_second;
    const double most = capacity * (duty.seconds() * (1 + kRounding) +
                                    to_seconds(kPicosecond) * static_cast<double>(duty.flows));
    law(duty.bytes <= most + static_cast<double>(duty.flows),
        "a link carries its bytes in the time it is used, and no faster");
  }
}

/// The same with all durations and lags `factor` times as long.
TaskGraph slowed(const TaskGraph& graph, int factor) {
  TaskGraph slow;
  for (const Queue& queue : graph.queues()) slow.add_queue(queue.name);
  for (const Pool& pool : graph.pools()) slow.add_pool(pool.name, pool.capacity);
  for (const Device& device : graph.devices()) slow.add_device(device.name);
  for (PatternId pattern = 0; pattern < graph.pattern_count(); ++pattern)
    slow.add_pattern(graph.pattern(pattern));
  std::vector<bool> begun(graph.queues().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    Task task = graph.tasks()[id];
    task.duration *= factor, task.label = kNone;
    const auto all = graph.dependencies(id);
    std::vector<Dependency> after(all.begin() + (begun[task.queue] ? 1 : 0), all.end());
    for (Dependency& d : after) d.lag *= factor;
    begun[task.queue] = true;
    slow.add(task, after);
  }
  return slow;
}

void check_scaling(const TaskGraph& graph, const Timeline& timeline, const CapacityOf& capacity_of) {
  constexpr int kFactor = 2;
  constexpr double kRounding = 1e-6;
  const Timeline slow =
      run(slowed(graph, kFactor), [&](LinkId link) { return capacity_of(link) * (1.0 / kFactor); });
  Time end{}, slow_end{};
  for (const Span& span : timeline.spans) end = std::max(end, span.end);
  for (const Span& span : slow.spans) slow_end = std::max(slow_end, span.end);
  law(std::abs(to_seconds(slow_end) - kFactor * to_seconds(end)) <=
          kRounding * to_seconds(slow_end) +
              to_seconds(kPicosecond) * static_cast<double>(graph.tasks().size()),
      "a machine with all times twice as long takes twice as long");
}

}  // namespace

void check_timeline_laws(const Scenario& scenario) {
  const int gpus = scenario.gpus.back();
  const StepSimulator simulator(scenario, gpus);
  const ClusterLinks& links = simulator.cluster().links();
  const CapacityOf capacity_of = [&links](LinkId link) { return links[link].bandwidth; };
  const StepRecording recording = simulator.record(gpus, default_device_model(scenario));
  for (const RecordedRank& rank : recording.ranks) {
    const TaskGraph& graph = rank.steps.plan.graph;
    check_causes(graph, rank.steps.timeline);
    check_queues(graph, rank.steps.timeline);
    check_pools(graph, rank.steps.timeline);
    check_links(graph, rank.steps.timeline, capacity_of);
    check_scaling(graph, rank.steps.timeline, capacity_of);
  }
}

}  // namespace foretrain::test
