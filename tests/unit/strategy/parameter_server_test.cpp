// Parameter servers step by step: what is fetched and handed in, by whom it is summed, and who waits for
// what.
#include "sim/strategy/servers/parameter_server.hpp"

#include <algorithm>
#include <numeric>

#include "sim/strategy/servers/server_options.hpp"
#include "sim/strategy/step/single.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace parameter_server_test {

using namespace foretrain;
using test::plan_of;
using test::Ran;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr std::size_t kSteps = 5;

/// As MXNet runs it; one GPU per node, so every GPU is a worker.
SmallPlan on(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small(model);
  small.gpus = gpus;
  return small;
}

SmallPlan in_node(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small = on(gpus, model);
  small.spec = test::pcie_cluster(2, 4);
  return small;
}

SmallPlan tensorflow(SmallPlan small) {
  small.workload.framework = usual_framework(FrameworkKind::tensorflow);
  return small;
}

std::size_t copies(const Plan& plan, std::string_view label) {
  return tasks_labelled(plan.graph, TaskKind::copy, label).size();
}

std::int64_t bytes_of(const Plan& plan, std::string_view label) {
  std::int64_t bytes = 0;
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::copy, label))
    bytes += plan.graph.tasks()[id].traffic.count;
  return bytes;
}

/// The kernels of the first layer that computes.
TaskId first_kernel(const SmallPlan& small, const Plan& plan) {
  const ExpandedModel& model = *small.workload.model;
  return tasks_labelled(plan.graph, TaskKind::kernel, model.layer_names[model.forward.front().layer]).front();
}

const Decision* decision(const Plan& plan, std::string_view subject) {
  const auto& list = plan.decisions.list();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Decision& d) { return d.subject == subject; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("one GPU keeps its variables: the plan is that of single") {
  const Plan alone = plan_of(on(1), "parameter_server"), single = plan_of(on(1), "single");
  CHECK(alone.graph.tasks().size() == single.graph.tasks().size());
  CHECK(alone.buckets.empty());
  CHECK(alone.memory == single.memory);
  REQUIRE(decision(alone, "one GPU") != nullptr);
}

TEST_CASE("in TensorFlow one GPU fetches from host memory and hands in there too") {
  const SmallPlan small = tensorflow(in_node(1));
  const Plan plan = plan_of(small, "parameter_server");
  CHECK(copies(plan, "pull of variables") == 8 * kSteps);
  CHECK(copies(plan, "push of gradients") == 8 * kSteps);
  CHECK(plan.buckets.empty());
  CHECK(run_plan(small, "parameter_server").last_step_s() > run_plan(small, "single").last_step_s());
}

TEST_CASE("the same with variables on the GPU is single") {
  SmallPlan small = tensorflow(in_node(1));
  small.knobs.edit<ParameterServerOptions>().server_on_gpu = true;
  CHECK(run_plan(small, "parameter_server").last_step_s() == run_plan(small, "single").last_step_s());
}

TEST_CASE("every gradient is handed in once per step, in one node and over nodes") {
  for (const SmallPlan& small : {in_node(4), on(4), tensorflow(in_node(4)), tensorflow(on(4))}) {
    const Plan plan = plan_of(small, "parameter_server");
    CHECK(copies(plan, "push of gradients") == 8 * kSteps);
    CHECK(bytes_of(plan, "push of gradients") == static_cast<std::int64_t>(kSteps) * 4 * 1'199'882);
    CHECK(bytes_of(plan, "pull of variables") == static_cast<std::int64_t>(kSteps) * 4 * 1'199'882);
  }
}

TEST_CASE("messages are listed in the order of gradients") {
  const Plan plan = plan_of(on(4), "parameter_server");
  // fc2 bias and weight, fc1 bias and weight, conv2 weight and bias, conv1 weight and bias: 10, 1,280, 128, …
  // elements of 4 bytes.
  CHECK(plan.buckets ==
        std::vector<Bytes>{{40}, {5'120}, {512}, {4'718'592}, {73'728}, {256}, {1'152}, {128}});
}

TEST_CASE("in one node nothing goes over a network and the host updates once") {
  const Plan plan = plan_of(in_node(4), "parameter_server");
  CHECK(tasks_labelled(plan.graph, TaskKind::host, "update on the servers").empty());
  CHECK(tasks_labelled(plan.graph, TaskKind::host, "sum and update").size() == 8 * kSteps);
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "optimizer").empty());
  CHECK(decision(plan, "parameter servers")->choice == "none");
}

TEST_CASE("over nodes the worker sums first, then the server sums and updates") {
  SmallPlan small = in_node(8);
  const Plan plan = plan_of(small, "parameter_server");
  CHECK(tasks_labelled(plan.graph, TaskKind::host, "sum of a node's gradients").size() == 8 * kSteps);
  const auto updates = tasks_labelled(plan.graph, TaskKind::host, "update on the servers");
  REQUIRE(updates.size() == 8 * kSteps);
  // fc2.bias comes first: one addition of 12 bytes per element, SGD reads variable and gradient and writes:
  // 12 too; 80 GB/s.
  CHECK(plan.graph.tasks()[updates.front()].duration == Bytes{10 * 24} / ByteRate{80e9});
}

TEST_CASE("TensorFlow fetches at the start of a step, and a layer waits for its own variables only") {
  SmallPlan small = tensorflow(in_node(4));
  small.spec.node.links[0].type.bandwidth = {1e9};
  const Ran ran = run_plan(small, "parameter_server");
  const auto pulls = tasks_labelled(ran.plan.graph, TaskKind::copy, "pull of variables");
  const TaskId first = first_kernel(small, ran.plan);
  CHECK(ran.timeline.spans[first].start >= ran.timeline.end_of(pulls[1]));  // conv1.weight and bias
  CHECK(ran.timeline.spans[first].start < ran.timeline.end_of(pulls[4]));   // fc1.weight is still on its way
}

TEST_CASE("XLA starts when all variables are there, and gradients leave when it ends") {
  SmallPlan small = tensorflow(in_node(4));
  small.workload.framework.execution = Execution::compiled;
  const Ran ran = run_plan(small, "parameter_server");
  const auto pulls = tasks_labelled(ran.plan.graph, TaskKind::copy, "pull of variables");
  const auto pushes = tasks_labelled(ran.plan.graph, TaskKind::copy, "push of gradients");
  const TaskId first = first_kernel(small, ran.plan);
  CHECK(ran.timeline.spans[first].start >= ran.timeline.end_of(pulls[7]));
  CHECK(ran.timeline.spans[pushes.front()].start >= ran.timeline.end_of(ran.plan.step_ends.front()));
}

TEST_CASE("TensorFlow's step ends with its updates: the next fetch waits for them") {
  const Ran ran = run_plan(tensorflow(on(4)), "parameter_server");
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::host, "update on the servers");
  const auto pulls = tasks_labelled(ran.plan.graph, TaskKind::copy, "pull of variables");
  Time last{};
  for (std::size_t i = 0; i < 8; ++i) last = std::max(last, ran.timeline.end_of(updates[i]));
  for (std::size_t i = 8; i < 16; ++i) CHECK(ran.timeline.spans[pulls[i]].start > last);
}

TEST_CASE("MXNet fetches behind each push while backward goes on") {
  SmallPlan small = on(4, test::resnet18());
  small.device.kernel.time_scale = 20;
  const Ran ran = run_plan(small, "parameter_server");
  const auto pulls = tasks_labelled(ran.plan.graph, TaskKind::copy, "pull of variables");
  CHECK(ran.timeline.end_of(pulls.front()) < ran.timeline.end_of(ran.plan.step_ends.front()));
}

TEST_CASE("asynchronous servers update for every worker, and nobody waits for the slowest") {
  SmallPlan in_step = on(4), free = on(4);
  for (SmallPlan* small : {&in_step, &free})
    small->device.rank_spread = 0.1, small->device.kernel.time_scale = 100;
  free.knobs.edit<ParameterServerOptions>().asynchronous = true;
  const Plan plan = plan_of(free, "parameter_server");
  CHECK(tasks_labelled(plan.graph, TaskKind::host, "update on the servers").size() ==
        2 * 8 * kSteps);  // its own, and for the others
  // The expected slowest of four is 1.03 standard deviations behind the mean.
  const double slower =
      run_plan(in_step, "parameter_server").last_step_s() / run_plan(free, "parameter_server").last_step_s();
  CHECK(slower == Approx(1.10).epsilon(0.02));
}

TEST_CASE("accumulation hands in gradients once per optimizer step") {
  SmallPlan small = on(4);
  small.knobs.accumulation = 4;
  const Plan plan = plan_of(small, "parameter_server");
  CHECK(copies(plan, "push of gradients") == 8 * kSteps);
  CHECK(copies(plan, "pull of variables") == 8 * kSteps);
}

TEST_CASE("summing on GPUs keeps gradients off the host in one node") {
  SmallPlan small = in_node(4);
  small.knobs.edit<ParameterServerOptions>().server_on_gpu = true;
  const Plan plan = plan_of(small, "parameter_server");
  CHECK(tasks_labelled(plan.graph, TaskKind::host, "sum and update").empty());
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "sum and update").size() == 8 * kSteps);
}

TEST_CASE("over nodes a sum on a GPU crosses host memory on its way to the server") {
  SmallPlan small = in_node(8);
  small.knobs.edit<ParameterServerOptions>().server_on_gpu = true;
  const Plan plan = plan_of(small, "parameter_server");
  CHECK(copies(plan, "gradients to their sum") == 2 * 8 * kSteps);  // to the GPU, from there to the host
  CHECK(copies(plan, "variables to the GPUs") == 2 * 8 * kSteps);
}

TEST_CASE("the GPU that sums holds the gradients of the others and its share of the optimizer") {
  SmallPlan host = in_node(4), gpu = in_node(4);
  gpu.knobs.edit<ParameterServerOptions>().server_on_gpu = true;
  CHECK(plan_of(host, "parameter_server").memory.optimizer == 0);
  const StrategyMemory memory = plan_of(gpu, "parameter_server").memory;
  // The first GPU has fc1.weight alone: 1,179,648 of 1,199,882 elements, three times.
  CHECK(memory.optimizer == Approx(1'179'648.0 / 1'199'882));
  CHECK(memory.buffers.count == 3 * 4 * 1'179'648);
}

TEST_CASE("more servers relieve the narrow one") {
  SmallPlan one = on(4, test::resnet18()), four = on(4, test::resnet18());
  one.spec = four.spec = test::star_cluster(4, {1e9});
  one.knobs.edit<ServerOptions>().servers = 1;
  CHECK(run_plan(four, "parameter_server").last_step_s() <
        0.5 * run_plan(one, "parameter_server").last_step_s());
}

TEST_CASE("the planner says how many servers there are and how even they are loaded") {
  const Plan plan = plan_of(tensorflow(on(4)), "parameter_server");
  REQUIRE(decision(plan, "parameter servers") != nullptr);
  CHECK(decision(plan, "parameter servers")->choice == "4 for 4 workers");
  CHECK_THAT(decision(plan, "parameter servers")->why,
             ContainsSubstring("98 % of the parameters"));  // fc1.weight
  CHECK(decision(plan, "messages")->choice == "gRPC");
  CHECK(decision(plan, "workers")->choice == "in step");
}

TEST_CASE("ps is another name of parameter_server") {
  CHECK(find_strategy("ps") == find_strategy("parameter_server"));
}

TEST_CASE(
    "every way of running a parameter server is steady from the third step on, and never slower on faster "
    "links") {
  for (const SmallPlan& base :
       {in_node(4, test::resnet18()), in_node(8, test::resnet18()), on(4, test::resnet18())}) {
    for (int way = 0; way < 8; ++way) {
      SmallPlan small = (way & 1) != 0 ? tensorflow(base) : base;
      small.knobs.edit<ParameterServerOptions>().server_on_gpu = (way & 2) != 0;
      small.knobs.edit<ParameterServerOptions>().asynchronous = (way & 4) != 0;
      INFO(small.spec.name << ", " << small.gpus << " GPUs, way " << way);
      const Ran ran = run_plan(small, "parameter_server");
      CHECK(ran.step_s(3) == Approx(ran.step_s(2)).epsilon(1e-9));
      CHECK(ran.step_s(4) == Approx(ran.step_s(3)).epsilon(1e-9));
      SmallPlan faster = small;
      for (NodeLink& link : faster.spec.node.links) link.type.bandwidth = link.type.bandwidth * 4;
      faster.spec.fabric.link.bandwidth = faster.spec.fabric.link.bandwidth * 4;
      CHECK(run_plan(faster, "parameter_server").last_step_s() <= ran.last_step_s() * (1 + 1e-6));
    }
  }
}

TEST_CASE("of a job whose ranks differ, a worker is as slow as its own node makes it") {
  SmallPlan small = in_node(4);
  small.device.busy_node = 0.5;
  const Placement job{{{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}, 2};
  const Cluster cluster = Cluster::build(small.spec, 2);
  const auto kernel_s = [&](const Placement* whole) {
    const Plan plan = plan_parameter_server({.workload = small.workload,
                                             .cluster = cluster,
                                             .placement = job,
                                             .knobs = small.knobs,
                                             .device = small.device,
                                             .calls = calls_of(small.spec),
                                             .job = whole});
    return to_seconds(plan.graph.tasks()[first_kernel(small, plan)].duration);
  };
  // The representative is alone on its node; the fullest node has four ranks.
  CHECK(kernel_s(nullptr) == Approx(1.5 * kernel_s(&job)).epsilon(1e-6));
}

}  // namespace parameter_server_test
