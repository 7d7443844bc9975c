// What no strategy may leave out: every layer's kernels in every micro-step, one filling of gradients with
// zeros, and memory's time for what copies read and write. Mutants of whole strategies survived without.
#include <algorithm>
#include <map>
#include <string>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace every_strategy_test {

using namespace foretrain;
using test::plan_of;
using test::SmallPlan;

namespace {

/// Launches of the layers' kernels in the steps of a plan, by layer; sharded gradients are added up
/// elsewhere.
std::map<std::string, std::size_t> layer_kernels(const SmallPlan& small, std::string_view strategy) {
  std::map<std::string, std::size_t> kernels;
  const Plan plan = plan_of(small, strategy);
  const std::vector<std::string>& layers = small.workload.model->layer_names;
  for (const Task& task : plan.graph.tasks()) {
    if (task.kind != TaskKind::kernel || task.label == kNone) continue;
    const std::string label(plan.graph.label_text(task.label));
    if (std::ranges::find(layers, label) != layers.end()) ++kernels[label];
  }
  return kernels;
}

SmallPlan on_two_nodes(int accumulation) {
  SmallPlan small;
  small.gpus = 2, small.knobs.accumulation = accumulation;
  return small;
}

double seconds_of(const Plan& plan, std::string_view label) {
  double seconds = 0;
  for (const TaskId id : test::tasks_labelled(plan.graph, TaskKind::kernel, label))
    seconds += to_seconds(plan.graph.tasks()[id].duration);
  return seconds;
}

/// Of all elements of all parameters in all steps, with so many bytes read and written for each.
double memory_seconds(const SmallPlan& small, double bytes_per_element) {
  return bytes_per_element * static_cast<double>(small.workload.model->parameter_elements()) * small.steps /
         small.spec.node.gpu.memory_bandwidth.per_second;
}

}  // namespace

TEST_CASE("every strategy with a process per GPU runs each layer's kernels as often as the plain loop does") {
  for (const int accumulation : {1, 3}) {
    SmallPlan alone = on_two_nodes(accumulation);
    alone.gpus = 1;
    const auto plain = layer_kernels(alone, "single");
    REQUIRE(plain.size() > 5);
    for (const StrategyEntry& strategy : strategy_catalog()) {
      if (strategy.processes != Processes::per_gpu) continue;
      INFO(strategy.name << ", " << accumulation << " micro-steps");
      CHECK(layer_kernels(on_two_nodes(accumulation), strategy.name) == plain);
    }
  }
}

TEST_CASE("BytePS divides every gradient in the time that memory needs to read and write it") {
  const SmallPlan small = on_two_nodes(1);
  CHECK(seconds_of(plan_of(small, "byteps"), "average") > memory_seconds(small, 2 * 4));
}

TEST_CASE("a hook that halves gradients casts, divides and casts back in the time that memory needs") {
  SmallPlan small = on_two_nodes(1);
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  CHECK(seconds_of(plan_of(small, "ddp"), "communication hook") > memory_seconds(small, 6 + 2 * 2 + 6));
}

TEST_CASE("buffers are copied into one message and out of it in the time that memory needs") {
  SmallPlan small(test::resnet18(), 8);
  small.gpus = 2;
  double bytes = 0;
  for (const Buffer& buffer : small.workload.model->buffers)
    bytes += static_cast<double>(buffer.elements * buffer.element_bytes);
  const double least = 2 * 2 * bytes * small.steps / small.spec.node.gpu.memory_bandwidth.per_second;
  REQUIRE(least > 0);
  CHECK(seconds_of(plan_of(small, "ddp"), "buffer broadcast") > least);
}

}  // namespace every_strategy_test
