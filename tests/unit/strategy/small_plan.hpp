// A question for a strategy as one value, and what it takes to run the answer.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sim/engine/executor.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/support/test_clusters.hpp"
#include "tests/support/test_models.hpp"

namespace foretrain::test {

/// Defaults: MNIST network, batch 64, SGD, one step's data without decoding, no jitter, an idle loader.
struct SmallPlan {
  Workload workload;
  ClusterSpec spec = star_cluster(4, {12.3e9});
  StrategyOptions knobs;
  DeviceModel device;
  int gpus = 1;
  int steps = 5;
  CollectiveSettings collective;

  explicit SmallPlan(const Model& model = mnist_net(), std::int64_t batch = 64) {
    workload.model = std::make_shared<const ExpandedModel>(expand(model).model);
    workload.batch_per_gpu = batch;
    device.kernel = default_kernel_calibration(spec.node.gpu);
    device.rank_spread = 0;
  }
};

struct Ran {
  Plan plan;
  Timeline timeline;
  /// Distance between the ends of steps i - 1 and i, in seconds.
  double step_s(std::size_t i) const {
    return to_seconds(timeline.end_of(plan.step_ends[i]) - timeline.end_of(plan.step_ends[i - 1]));
  }
  double last_step_s() const { return step_s(plan.step_ends.size() - 1); }
  /// Seconds of the last step per account, waiting included.
  double share(Account account) const {
    const TaskId last = plan.step_ends.back();
    const CriticalPath path =
        critical_path(plan.graph, timeline, last, timeline.end_of(plan.step_ends[plan.step_ends.size() - 2]));
    const auto i = static_cast<std::size_t>(account);
    return to_seconds(path.spent[i] + path.lag[i]);
  }
};

inline Plan plan_of(const SmallPlan& small, std::string_view strategy) {
  const Placement placement = place_packed(small.gpus, small.spec.node.gpus);
  const Cluster cluster = Cluster::build(small.spec, placement.nodes);
  return find_strategy(strategy)->plan({small.workload, cluster, placement, small.knobs, small.device,
                                        small.steps, small.collective, nullptr, calls_of(small.spec)});
}

inline Ran run_plan(const SmallPlan& small, std::string_view strategy) {
  const Placement placement = place_packed(small.gpus, small.spec.node.gpus);
  const Cluster cluster = Cluster::build(small.spec, placement.nodes);
  Ran ran{find_strategy(strategy)->plan({small.workload, cluster, placement, small.knobs, small.device,
                                         small.steps, small.collective, nullptr, calls_of(small.spec)}),
          {}};
  ran.timeline = run(ran.plan.graph, *make_max_min_network(cluster.capacities()));
  return ran;
}

/// Tasks of one kind whose label begins with `label`.
inline std::vector<TaskId> tasks_labelled(const TaskGraph& graph, TaskKind kind, std::string_view label) {
  std::vector<TaskId> found;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind == kind && task.label != kNone && graph.label_text(task.label).starts_with(label))
      found.push_back(id);
  }
  return found;
}

}  // namespace foretrain::test
