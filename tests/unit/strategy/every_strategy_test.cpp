// What no strategy may leave out: every layer's kernels in every micro-step, one filling of gradients with
// zeros, and memory's time for what copies read and write. Mutants of whole strategies survived without.
#include <algorithm>
#include <map>
#include <string>

#include "sim/strategy/process/gradient_options.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

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

Time length_of(const Plan& plan, std::string_view label) {
  Time sum{};
  for (const TaskId id : test::tasks_labelled(plan.graph, TaskKind::kernel, label))
    sum += plan.graph.tasks()[id].duration;
  return sum;
}

/// Of a kernel that reads and writes so many bytes together.
Time moving(const SmallPlan& small, std::int64_t bytes) {
  return memory_kernel_time({bytes}, small.spec.node.gpu, small.device.kernel);
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
  Time expected{};
  for (const Parameter& parameter : small.workload.model->parameters)
    expected += moving(small, 2 * 4 * parameter.elements) * small.steps;
  CHECK(length_of(plan_of(small, "byteps"), "average") == expected);
}

TEST_CASE("a hook that halves gradients casts, divides and casts back in the time that memory needs") {
  SmallPlan small = test::blocks_on(2);
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  const Plan plan = plan_of(small, "ddp");
  Time least{};
  for (const Bytes half : plan.buckets)  // fp32 to fp16, halves divided, fp16 to fp32
    least += (moving(small, 3 * half.count) + moving(small, 2 * half.count) + moving(small, 3 * half.count)) *
             small.steps;
  REQUIRE(least > Time{});
  CHECK(length_of(plan, "communication hook") >= least);
}

TEST_CASE("buffers are copied into one message and out of it in the time that memory needs") {
  SmallPlan small(test::resnet18(), 8);
  small.gpus = 2;
  Time expected{};
  for (const std::int64_t element_bytes : {4, 8}) {
    std::int64_t total = 0;
    for (const Buffer& buffer : small.workload.model->buffers) {
      if (buffer.element_bytes != element_bytes) continue;
      total += buffer.elements * element_bytes;
      expected += moving(small, 2 * buffer.elements * element_bytes) * small.steps;
    }
    if (total > 0) expected += moving(small, 2 * total) * small.steps;
  }
  REQUIRE(expected > Time{});
  CHECK(length_of(plan_of(small, "ddp"), "buffer broadcast") == expected);
}

}  // namespace every_strategy_test
