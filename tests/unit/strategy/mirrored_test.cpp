// MirroredStrategy step by step: what is packed, sent and copied, and what one process for all GPUs costs the
// host.
#include "sim/strategy/replicas/mirrored.hpp"

#include <algorithm>

#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/replicas/replica_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace mirrored_test {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

/// TensorFlow on GPUs of one node.
SmallPlan on(int gpus, const Model& model = test::mnist_net(), Execution execution = Execution::graph) {
  SmallPlan small(model);
  small.spec = test::pcie_cluster(1, 8);
  small.gpus = gpus;
  small.workload.framework = usual_framework(FrameworkKind::tensorflow);
  small.workload.framework.execution = execution;
  small.workload.optimizer.form = OptimizerForm::variable;
  return small;
}

/// The same on a host so slow that the GPUs wait for it.
SmallPlan host_bound(int gpus, bool private_threads = false) {
  SmallPlan small = on(gpus, test::resnet18());
  small.spec.node.host.slowdown = 50;
  small.knobs.edit<ReplicaOptions>().private_threads = private_threads;
  return small;
}

std::vector<TaskId> kernels(const Plan& plan, std::string_view label) {
  return tasks_labelled(plan.graph, TaskKind::kernel, label);
}
std::vector<TaskId> sums(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::collective, "all_reduce pack");
}
std::vector<TaskId> copies(const Plan& plan, std::string_view label) {
  return tasks_labelled(plan.graph, TaskKind::copy, label);
}

std::string choice_on(const Plan& plan, const std::string& subject) {
  for (const Decision& decision : plan.decisions.list()) {
    if (decision.subject == subject) return decision.choice;
  }
  return {};
}

constexpr std::int64_t kMnistGradients = 4 * 1'199'882;

}  // namespace

TEST_CASE("on one GPU nothing is packed or sent: the plan is the plain loop's") {
  const Plan mirrored = plan_of(on(1), "mirrored"), single = plan_of(on(1), "single");
  REQUIRE(mirrored.graph.tasks().size() == single.graph.tasks().size());
  CHECK(std::equal(mirrored.graph.tasks().begin(), mirrored.graph.tasks().end(), single.graph.tasks().begin(),
                   [](const Task& a, const Task& b) {
                     return a.kind == b.kind && a.queue == b.queue && a.duration == b.duration;
                   }));
  CHECK(mirrored.buckets.empty());
  CHECK(mirrored.memory == StrategyMemory{});
  CHECK(choice_on(mirrored, "one GPU") == "nothing packed or sent");
}

TEST_CASE("all gradients go in one message, once a step") {
  const Plan plan = plan_of(on(4), "mirrored");
  REQUIRE(plan.buckets == std::vector<Bytes>{{kMnistGradients}});
  REQUIRE(sums(plan).size() == 5);
  for (const TaskId id : sums(plan)) CHECK(plan.graph.tasks()[id].traffic.count == kMnistGradients);
  CHECK(choice_on(plan, "gradients") == "one pack of all");
}

TEST_CASE("the pack is concatenated behind backward, summed, and split before the optimizer") {
  const test::Ran ran = run_plan(on(4), "mirrored");
  const auto concat = kernels(ran.plan, "concatenation of gradients"),
             split = kernels(ran.plan, "split of summed gradients");
  const auto optimizer = kernels(ran.plan, "optimizer");
  REQUIRE(concat.size() == 5);
  REQUIRE(split.size() == 5);
  const auto& spans = ran.timeline.spans;
  CHECK(spans[sums(ran.plan)[0]].start >= spans[concat[0]].end);
  CHECK(spans[split[0]].start >= spans[sums(ran.plan)[0]].end);
  CHECK(spans[optimizer[0]].start >= spans[split[0]].end);
}

TEST_CASE("the split is issued only when the sum has ended on the GPU") {
  const test::Ran ran = run_plan(on(4), "mirrored");
  const TaskId split = kernels(ran.plan, "split of summed gradients")[2], sum = sums(ran.plan)[2];
  const HostCalibration costs;
  // The host wakes (10 us), issues the node of each of the four GPUs (4 x 5.5 us), and the launch takes 4 us.
  const Time expected = costs.sync_wake + (costs.node + costs.launch) * 4 + costs.launch_latency;
  CHECK(ran.timeline.spans[split].start - ran.timeline.spans[sum].end == expected);
}

TEST_CASE("several packs: the concatenation is cut and the sums are joined again") {
  SmallPlan small = on(4);
  small.knobs.edit<MirroredOptions>().num_packs = 3;
  const Plan plan = plan_of(small, "mirrored");
  CHECK(sums(plan).size() == 3u * 5);
  CHECK(kernels(plan, "concatenation of gradients").size() == 2u * 5);
  CHECK(kernels(plan, "split of summed gradients").size() == 2u * 5);
  CHECK(plan.buckets.back().count == 4 * 399'962);  // 1,199,882 - 2 x 399,960 elements
}

TEST_CASE("without packs each gradient is sent beside the rest of backward, and nothing is copied") {
  SmallPlan small = on(4, test::resnet18());
  small.knobs.edit<MirroredOptions>().num_packs = 0;
  const test::Ran ran = run_plan(small, "mirrored");
  REQUIRE(ran.plan.buckets.size() == 62);
  CHECK(kernels(ran.plan, "concatenation of gradients").empty());
  CHECK(kernels(ran.plan, "split of summed gradients").empty());
  CHECK(ran.plan.memory.buffers.count == 0);
  // Backward goes on between the first sum and the last.
  const Time first = ran.timeline.spans[sums(ran.plan)[0]].start,
             last = ran.timeline.spans[sums(ran.plan)[61]].start;
  const auto all = kernels(ran.plan, "");
  CHECK(std::count_if(all.begin(), all.end(), [&](TaskId id) {
          const Time start = ran.timeline.spans[id].start;
          return start > first && start < last;
        }) > 50);
}

TEST_CASE("the step's host time grows by the same with each further GPU") {
  const double one = run_plan(host_bound(2), "mirrored").last_step_s(),
               two = run_plan(host_bound(4), "mirrored").last_step_s(),
               three = run_plan(host_bound(6), "mirrored").last_step_s();
  CHECK(three - two == Approx(two - one).epsilon(0.01));
  // All that grows is the graph's; Python, 230 us x 50 a step, is paid once.
  const double python = 230e-6 * 50;
  CHECK((two - one) / 2 == Approx(run_plan(host_bound(1), "mirrored").last_step_s() - python).epsilon(0.05));
}

TEST_CASE("threads of its own for each GPU leave only the driver to take turns") {
  const double alone = run_plan(host_bound(1), "mirrored").last_step_s();
  const double shared = run_plan(host_bound(4), "mirrored").last_step_s(),
               own = run_plan(host_bound(4, true), "mirrored").last_step_s();
  CHECK(own > 2 * alone);  // a node takes 5.5 us, 4.5 of them in the driver: 4 x 4.5 / 5.5 = 3.3
  CHECK(own < 0.85 * shared);
  CHECK(choice_on(plan_of(host_bound(4, true), "mirrored"), "replicas") ==
        "4 in one process, each issued by threads of its own");
}

TEST_CASE("when the GPU bounds the step, one process for all of them costs nothing but the sum") {
  SmallPlan small = on(4, test::resnet18()), alone = on(1, test::resnet18());
  small.device.kernel.time_scale = alone.device.kernel.time_scale = 50;
  const double four = run_plan(small, "mirrored").last_step_s();
  CHECK(four < 1.05 * run_plan(alone, "mirrored").last_step_s());
}

TEST_CASE("eagerly one thread runs the passes of all replicas, one replica after the other") {
  const auto others = [](int gpus) {
    const Plan plan = plan_of(on(gpus, test::mnist_net(), Execution::eager), "mirrored");
    const auto waits = tasks_labelled(plan.graph, TaskKind::host, "passes of the other replicas");
    return waits.empty() ? Time{} : plan.graph.tasks()[waits.front()].duration;
  };
  CHECK(others(2) > Time{});
  CHECK(others(4) == others(2) * 3);
  CHECK(choice_on(plan_of(on(4, test::mnist_net(), Execution::eager), "mirrored"), "replicas") ==
        "4 one after the other");
}

TEST_CASE("eagerly the step is longer than as a graph") {
  CHECK(run_plan(on(4, test::mnist_net(), Execution::eager), "mirrored").last_step_s() >
        1.5 * run_plan(on(4), "mirrored").last_step_s());
}

TEST_CASE("accumulation sums once per optimizer step") {
  SmallPlan small = on(4);
  small.knobs.accumulation = 4;
  CHECK(sums(plan_of(small, "mirrored")).size() == sums(plan_of(on(4), "mirrored")).size());
}

TEST_CASE("one pipeline makes the batches of all GPUs of the process") {
  SmallPlan small = on(4);
  small.workload.data.loader = LoaderKind::tf_data;
  small.workload.data.workers_per_gpu = 0;
  small.workload.data.decode = milliseconds(1);
  // tf.data takes 0.7 of the decoding: 4 x 64 x 0.7 ms in the main thread, in which the GPUs wait.
  CHECK(run_plan(small, "mirrored").share(Account::input_stall) == Approx(4 * 64 * 0.7e-3).epsilon(0.02));
}

TEST_CASE("each GPU is sent its own part of the batch") {
  const auto copied = [](int gpus) {
    const Plan plan = plan_of(on(gpus), "mirrored");
    return plan.graph.tasks()[copies(plan, "input batch").front()].traffic;
  };
  CHECK(copied(4) == copied(1));
}

TEST_CASE("a packed sum needs memory for one more copy of the gradients") {
  CHECK(plan_of(on(4), "mirrored").memory.buffers.count == kMnistGradients);
}

TEST_CASE("hierarchical copies: into the two mains, across, back across, and out again") {
  SmallPlan small = on(8);
  small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::hierarchical_copy;
  const Plan plan = plan_of(small, "mirrored");
  CHECK(sums(plan).empty());
  CHECK(copies(plan, "copies to the summing GPU").size() == 2u * 5);
  CHECK(copies(plan, "copies of the sum").size() == 2u * 5);
  const auto gathers = copies(plan, "copies to the summing GPU");
  // Six of eight GPUs send to their main, one main to the other.
  CHECK(plan.graph.pattern(plan.graph.tasks()[gathers[0]].pattern).size() == 6);
  CHECK(plan.graph.pattern(plan.graph.tasks()[gathers[1]].pattern).size() == 1);
  // The sum of four, then of the two halves: 5 and 3 tensors of memory traffic.
  const auto additions = kernels(plan, "sum of gradients");
  REQUIRE(additions.size() == 2u * 5);
  CHECK(plan.graph.tasks()[additions[0]].duration > plan.graph.tasks()[additions[1]].duration);
}

TEST_CASE("with two GPUs the hierarchical copy is an exchange") {
  SmallPlan small = on(2);
  small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::hierarchical_copy;
  const Plan plan = plan_of(small, "mirrored");
  CHECK(copies(plan, "copies to the summing GPU").size() == 5);
  CHECK(copies(plan, "copies of the sum").size() == 5);
  CHECK(run_plan(small, "mirrored").last_step_s() > 0);
}

TEST_CASE("an odd GPU of the hierarchical copy joins the second half") {
  SmallPlan small = on(3);
  small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::hierarchical_copy;
  const Plan plan = plan_of(small, "mirrored");
  const auto gathers = copies(plan, "copies to the summing GPU");
  CHECK(plan.graph.pattern(plan.graph.tasks()[gathers[0]].pattern).size() == 1);
}

TEST_CASE("the main GPUs of the hierarchical copy move on from pack to pack") {
  SmallPlan small = on(4);
  small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::hierarchical_copy;
  small.knobs.edit<MirroredOptions>().num_packs = 2;
  const Plan plan = plan_of(small, "mirrored");
  const auto gathers = copies(plan, "copies to the summing GPU");
  CHECK(plan.graph.tasks()[gathers[0]].pattern != plan.graph.tasks()[gathers[2]].pattern);
  CHECK(plan.graph.tasks()[gathers[0]].pattern ==
        plan.graph.tasks()[gathers[4]].pattern);  // the next step's first
}

TEST_CASE("reduction to one device copies every gradient by itself to GPU 0 and back") {
  SmallPlan small = on(4);
  small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::reduction_to_one_device;
  const Plan plan = plan_of(small, "mirrored");
  const auto gathers = copies(plan, "copies to the summing GPU");
  REQUIRE(gathers.size() == 8u * 5);  // 8 tensors
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < 8; ++i) bytes += plan.graph.tasks()[gathers[i]].traffic.count;
  CHECK(bytes == kMnistGradients);
  for (const TaskId id : gathers) CHECK(plan.graph.tasks()[id].queue == plan.graph.tasks()[gathers[0]].queue);
  CHECK(kernels(plan, "concatenation of gradients").empty());
}

TEST_CASE("reduction in turn spreads the sums over all GPUs and is faster behind a slow bus") {
  SmallPlan one = on(4, test::resnet18()), turns = on(4, test::resnet18());
  one.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::reduction_to_one_device;
  turns.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::reduction_in_turn;
  for (NodeLink& link : one.spec.node.links) link.type.bandwidth = {1e9};
  turns.spec = one.spec;
  CHECK(run_plan(turns, "mirrored").last_step_s() < 0.7 * run_plan(one, "mirrored").last_step_s());
}

TEST_CASE("in 16-bit weights the pack is half as large") {
  SmallPlan small = on(4);
  small.workload.precision = Precision::bf16;
  small.workload.half_weights = true;
  CHECK(plan_of(small, "mirrored").buckets == std::vector<Bytes>{{kMnistGradients / 2}});
}

TEST_CASE("gradients travel in 16 bit, converted tensor by tensor before and after") {
  SmallPlan small = on(4);
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  small.steps = 1;
  const Plan plan = plan_of(small, "mirrored");
  CHECK(plan.buckets == std::vector<Bytes>{{kMnistGradients / 2}});
  CHECK(kernels(plan, "gradient to and from 16 bit").size() == 2 * small.workload.model->parameters.size());
  CHECK(kernels(plan_of(on(4), "mirrored"), "gradient to and from 16 bit").empty());
}

TEST_CASE("16-bit weights have nothing to convert") {
  SmallPlan small = on(4);
  small.workload.precision = Precision::amp_fp16, small.workload.half_weights = true;
  const Plan plain = plan_of(small, "mirrored");
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  CHECK(plan_of(small, "mirrored").graph.tasks().size() == plain.graph.tasks().size());
}

TEST_CASE("XLA hands out no gradient before backward has ended") {
  SmallPlan graph = on(4, test::resnet18()), compiled = on(4, test::resnet18(), Execution::compiled);
  graph.steps = compiled.steps = 1;
  graph.knobs.edit<MirroredOptions>().num_packs = compiled.knobs.edit<MirroredOptions>().num_packs = 0;
  const auto kernels_before_first_sum = [](const Plan& plan) {
    const std::vector<TaskId> sent = tasks_labelled(plan.graph, TaskKind::collective, "all_reduce");
    REQUIRE_FALSE(sent.empty());
    return std::count_if(plan.graph.tasks().begin(), plan.graph.tasks().begin() + sent.front(),
                         [](const Task& task) { return task.kind == TaskKind::kernel && task.account == 0; });
  };
  const auto all = [](const Plan& plan) {
    return std::count_if(plan.graph.tasks().begin(), plan.graph.tasks().end(),
                         [](const Task& task) { return task.kind == TaskKind::kernel && task.account == 0; });
  };
  const Plan early = plan_of(graph, "mirrored"), late = plan_of(compiled, "mirrored");
  CHECK(kernels_before_first_sum(early) < all(early));
  CHECK(kernels_before_first_sum(late) == all(late));
}

}  // namespace mirrored_test
