// What no strategy may leave out: every layer's kernels in every micro-step, one filling of gradients with
// zeros, and memory's time for what copies read and write. Mutants of whole strategies survived without.
#include <algorithm>
#include <map>
#include <string>

#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/zero/zero_options.hpp"
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

/// Two ranks of a strategy, or its one process with two GPUs; the plain loop's only one.
Plan plan_with(const StrategyEntry& strategy, int accumulation, const auto& edit) {
  SmallPlan small = on_two_nodes(accumulation);
  if (strategy.one_gpu) small.gpus = 1;
  if (strategy.processes != Processes::per_gpu) small.spec = test::nvlink_cluster(1, 1);
  edit(small.workload.loop);
  return plan_of(small, strategy.name);
}

/// Kernels of exactly that name.
std::size_t kernels_named(const Plan& plan, std::string_view label) {
  std::size_t count = 0;
  for (const TaskId id : test::tasks_labelled(plan.graph, TaskKind::kernel, label))
    count += plan.graph.label_text(plan.graph.tasks()[id].label) == label ? 1 : 0;
  return count;
}

/// Of the kernels of that name, those that last as long as memory needs for so many bytes.
std::size_t moves_of(const SmallPlan& small, const Plan& plan, std::string_view label, std::int64_t bytes) {
  std::size_t count = 0;
  for (const TaskId id : test::tasks_labelled(plan.graph, TaskKind::kernel, label))
    count += plan.graph.tasks()[id].duration == moving(small, bytes) ? 1 : 0;
  return count / plan.step_ends.size();
}

Time each_gradient_moved(const SmallPlan& small) {
  Time sum{};
  for (const Parameter& parameter : small.workload.model->parameters)
    sum += moving(small, 2 * 4 * parameter.elements) * small.steps;
  return sum;
}

using ZeroGrad = TrainingLoop::ZeroGrad;
constexpr auto kAsIs = [](TrainingLoop&) {};

}  // namespace

TEST_CASE("every strategy pays the script's own time once per step, however many micro-steps it has") {
  const Time own = microseconds(7300);  // longer than anything else in these plans
  for (const StrategyEntry& strategy : strategy_catalog()) {
    for (const int accumulation : {1, 3}) {
      INFO(strategy.name << ", " << accumulation << " micro-steps");
      const Plan plan = plan_with(strategy, accumulation, [&](TrainingLoop& loop) { loop.overhead = own; });
      CHECK(std::ranges::count_if(plan.graph.tasks(), [&](const Task& task) {
              return task.duration >= own;
            }) == static_cast<std::ptrdiff_t>(plan.step_ends.size()));
    }
  }
}

TEST_CASE("every strategy's host waits for a loss that is read: before each backward pass, or once a step") {
  for (const StrategyEntry& strategy : strategy_catalog()) {
    for (const int accumulation : {1, 3}) {
      INFO(strategy.name << ", " << accumulation << " micro-steps");
      const auto waits = [&](int every, bool before) {
        return plan_with(strategy, accumulation,
                         [&](TrainingLoop& loop) {
                           loop.loss_item_every = every, loop.loss_item_before_backward = before;
                         })
            .graph.tasks()
            .size();
      };
      const std::size_t none = waits(0, false);
      CHECK(waits(1, true) - none == static_cast<std::size_t>(5 * accumulation));
      CHECK(waits(1, false) - none == 5);
    }
  }
}

TEST_CASE("gradients that are kept are filled with zeros once per step and added to in every micro-step") {
  for (const StrategyEntry& strategy : strategy_catalog()) {
    if (strategy.name.starts_with("zero") || strategy.name.starts_with("fsdp")) continue;  // have their own
    for (const int accumulation : {1, 3}) {
      INFO(strategy.name << ", " << accumulation << " micro-steps");
      const auto plan = [&](ZeroGrad mode) {
        return plan_with(strategy, accumulation, [&](TrainingLoop& loop) { loop.zero_grad = mode; });
      };
      const std::size_t all = 8 * 5;  // parameters of the network, steps
      const Plan kept = plan(ZeroGrad::zero), never = plan(ZeroGrad::none),
                 freed = plan(ZeroGrad::set_to_none);
      CHECK(kernels_named(kept, "optimizer") - kernels_named(never, "optimizer") == all);
      CHECK(kernels_named(kept, "gradient") == all * static_cast<std::size_t>(accumulation));
      CHECK(kernels_named(never, "gradient") == all * static_cast<std::size_t>(accumulation));
      CHECK(kernels_named(freed, "gradient") == all * static_cast<std::size_t>(accumulation - 1));
    }
  }
}

TEST_CASE("ZeRO adds micro-steps up in the gradients until stage 2, which sends each micro-step's away") {
  for (const StrategyEntry& strategy : strategy_catalog()) {
    if (!strategy.name.starts_with("zero")) continue;
    INFO(strategy.name);
    const bool adds = strategy.name == "zero0" || strategy.name == "zero1";
    CHECK(kernels_named(plan_with(strategy, 3, kAsIs), "gradient") == (adds ? 2 * 8 * 5 : 0));
    CHECK(kernels_named(plan_with(strategy, 1, kAsIs), "gradient") == 0);
  }
}

TEST_CASE("DDP copies every gradient into its bucket and out in the time that memory needs") {
  const SmallPlan small = on_two_nodes(1);
  const Plan plan = plan_of(small, "ddp");
  CHECK(length_of(plan, "gradient to bucket") == each_gradient_moved(small));
  CHECK(length_of(plan, "bucket to gradient") == each_gradient_moved(small));
}

TEST_CASE("PowerSGD moves a bucket six times beside its products, and what it cannot compress twice") {
  SmallPlan small = test::blocks_on(2);
  const Plan plain = plan_of(small, "ddp");
  small.knobs.edit<GradientOptions>().compression = Compression::powersgd;
  const Plan plan = plan_of(small, "ddp");
  std::size_t blocks = 0, adding = 0, keeping = 0, biases = 0;
  for (const Bytes bucket : plain.buckets) {
    const std::int64_t layers = bucket.count / (4 * test::kLinear);
    REQUIRE(layers * 4 * test::kLinear == bucket.count);
    adding = moves_of(small, plan, "communication hook", 3 * bucket.count);
    keeping = moves_of(small, plan, "communication hook", 2 * bucket.count);
    biases = moves_of(small, plan, "communication hook", 2 * 4 * 1024 * layers);
    blocks = static_cast<std::size_t>(
        std::ranges::count(plain.buckets, bucket.count, [](Bytes size) { return size.count; }));
    CHECK(adding == 2 * blocks);
    CHECK(keeping == blocks);
    CHECK(biases >= 2 * blocks);
  }
}

TEST_CASE("ZeRO divides and packs a bucket, keeps its own slice, and updates that in the time memory needs") {
  const SmallPlan small = on_two_nodes(1);
  std::int64_t elements = 0;
  for (const Parameter& parameter : small.workload.model->parameters) elements += parameter.elements;
  const std::int64_t all = 4 * elements;
  for (const char* stage : {"zero1", "zero2", "zero3"}) {
    INFO(stage);
    const Plan plan = plan_of(small, stage);
    const int sharers =
        std::string_view(stage) == "zero3" ? 2 : 1;  // beside backward, which reads and writes
    CHECK(length_of(plan, "gradient to bucket") == each_gradient_moved(small) * sharers);
    CHECK(length_of(plan, "divide and pack gradients") == moving(small, 2 * all) * 2 * small.steps * sharers);
    CHECK(length_of(plan, "own slice of gradients") == moving(small, 2 * all / 2) * small.steps * sharers);
    // Partitions of stages 1 and 2 are rounded up to two elements.
    const std::int64_t own = std::string_view(stage) == "zero3" ? all / 2 : 4 * ((elements + 3) / 4 * 2);
    CHECK(moves_of(small, plan, "optimizer", 2 * own) == 2);
    CHECK(length_of(plan, "fp32 to weights") == moving(small, 2 * own) * small.steps);
  }
  const Plan whole = plan_of(small, "zero0");
  CHECK(length_of(whole, "divide and pack gradients") == moving(small, 2 * all) * 2 * small.steps);
  CHECK(length_of(whole, "own slice of gradients") == each_gradient_moved(small));
}

TEST_CASE("ZeRO gathers new weights in pieces until PyTorch 1.9, at once from 1.10 on") {
  SmallPlan small = on_two_nodes(1);
  small.knobs.edit<ZeroOptions>().allgather_bucket_size = 100'000;
  const auto gathers = [&](int minor) {
    small.workload.framework.version = {1, minor};
    const Plan plan = plan_of(small, "zero1");
    return test::tasks_labelled(plan.graph, TaskKind::collective, "all_gather of weights").size() / 5;
  };
  CHECK(gathers(9) > 1);
  CHECK(gathers(10) == 1);
  CHECK(gathers(11) == 1);
}

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
  Time expected{};
  for (const Bytes half : plan.buckets)  // fp32 to fp16, halves divided; fp16 to fp32 beside backward, which
    expected += (moving(small, 3 * half.count) + moving(small, 2 * half.count) +  // has half of memory
                 moving(small, 3 * half.count) * 2) *
                small.steps;
  REQUIRE(expected > Time{});
  CHECK(length_of(plan, "communication hook") == expected);
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
