// BytePS step by step: partitions, the stages each goes through, and what overlaps.
#include "sim/strategy/servers/byteps.hpp"

#include <algorithm>

#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/servers/server_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace byteps_test {

using namespace foretrain;
using test::plan_of;
using test::Ran;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr std::size_t kSteps = 5;

/// Two nodes of four GPUs.
SmallPlan on(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small(model);
  small.spec = test::nvlink_cluster(2, 1);
  small.gpus = gpus;
  return small;
}

std::size_t count(const Plan& plan, TaskKind kind, std::string_view label) {
  return tasks_labelled(plan.graph, kind, label).size();
}

std::int64_t total(const std::vector<Bytes>& sizes) {
  std::int64_t sum = 0;
  for (const Bytes size : sizes) sum += size.count;
  return sum;
}

}  // namespace

TEST_CASE("a partition is the limit rounded up to whole pages for every GPU") {
  CHECK(partition_elements({4'096'000}, 4, 4) == 1'024'000);  // 250 times 16,384 bytes
  CHECK(partition_elements({4'096'000}, 3, 4) == 1'026'048);  // 334 times 12,288
  CHECK(partition_elements({1}, 8, 2) == 16'384);
}

TEST_CASE("one GPU registers no hooks: the plan is that of single") {
  const Plan alone = plan_of(on(1), "byteps"), single = plan_of(on(1), "single");
  CHECK(alone.graph.tasks().size() == single.graph.tasks().size());
  CHECK(alone.buckets.empty());
  CHECK(alone.decisions.list().back().choice == "no hooks");
}

TEST_CASE("in one node NCCL alone sums: reduce-scatter and all-gather of every partition") {
  const Plan plan = plan_of(on(4), "byteps");
  // fc1.weight has 1,179,648 elements: two partitions; the seven others one each.
  REQUIRE(plan.buckets.size() == 9);
  CHECK(count(plan, TaskKind::collective, "reduce of gradients in the node") == 9 * kSteps);
  CHECK(count(plan, TaskKind::collective, "all_gather in the node") == 9 * kSteps);
  CHECK(count(plan, TaskKind::copy, "push of gradients") == 0);
}

TEST_CASE("over nodes every partition goes through all stages once") {
  const Plan plan = plan_of(on(8), "byteps");
  for (const char* label :
       {"copy to host memory", "push of gradients", "pull of gradients", "copy to the GPU"})
    CHECK(count(plan, TaskKind::copy, label) == 9 * kSteps);
  CHECK(count(plan, TaskKind::host, "sum on the servers") == 9 * kSteps);
  CHECK(count(plan, TaskKind::collective, "sum in the node") == 9 * kSteps);
  CHECK(total(plan.buckets) == 4 * 1'199'882);
}

TEST_CASE("nodes of one GPU need no NCCL") {
  SmallPlan small;
  small.gpus = 4;
  const Plan plan = plan_of(small, "byteps");
  CHECK(count(plan, TaskKind::collective, "") == 0);
  CHECK(count(plan, TaskKind::copy, "push of gradients") == 9 * kSteps);
}

TEST_CASE("a server adds the other node's partition to the first: 12 bytes per element") {
  const Plan plan = plan_of(on(8), "byteps");
  const auto sums = tasks_labelled(plan.graph, TaskKind::host, "sum on the servers");
  CHECK(plan.graph.tasks()[sums.front()].duration == Bytes{12 * 10} / ByteRate{80e9});  // fc2.bias
}

TEST_CASE("every GPU copies its share to host memory and back") {
  const Plan plan = plan_of(on(8), "byteps");
  const auto copies = tasks_labelled(plan.graph, TaskKind::copy, "copy to host memory");
  const auto& flows = plan.graph.pattern(plan.graph.tasks()[copies.front()].pattern);
  REQUIRE(flows.size() == 4);
  for (const PatternFlow& flow : flows) CHECK(flow.weight == 0.25);
}

TEST_CASE("stages work on different partitions at the same time") {
  SmallPlan small = on(8, test::resnet18());
  small.spec.fabric.link.bandwidth = {1e9};
  const Ran ran = run_plan(small, "byteps");
  const auto pushes = tasks_labelled(ran.plan.graph, TaskKind::copy, "push of gradients");
  const auto pulls = tasks_labelled(ran.plan.graph, TaskKind::copy, "pull of gradients");
  const std::size_t last = ran.plan.buckets.size() - 1;
  CHECK(ran.timeline.end_of(pulls.front()) < ran.timeline.end_of(pushes[last]));
}

TEST_CASE("the optimizer waits for the last partition") {
  const Ran ran = run_plan(on(8), "byteps");
  const auto gathers = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_gather in the node");
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::kernel, "optimizer");
  CHECK(ran.timeline.spans[updates.front()].start > ran.timeline.end_of(gathers[8]));
}

TEST_CASE("compression halves what travels and costs casts") {
  SmallPlan small = on(8);
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  const Plan plan = plan_of(small, "byteps");
  CHECK(total(plan.buckets) == 2 * 1'199'882);
  CHECK(count(plan, TaskKind::kernel, "cast for the wire") == 2 * 8 * kSteps);
}

TEST_CASE("smaller partitions keep a slow network and the host busy at the same time") {
  SmallPlan small = on(8, test::resnet18()), whole = on(8, test::resnet18());
  small.spec.fabric.link.bandwidth = whole.spec.fabric.link.bandwidth = {1e9};
  whole.knobs.edit<BytepsOptions>().partition_bytes = {1'000'000'000};
  CHECK(plan_of(whole, "byteps").buckets.size() == 62);  // one per gradient
  CHECK(run_plan(small, "byteps").last_step_s() <= run_plan(whole, "byteps").last_step_s());
}

TEST_CASE("accumulation exchanges gradients once per optimizer step of BytePS") {
  SmallPlan small = on(8);
  small.knobs.accumulation = 4;
  CHECK(count(plan_of(small, "byteps"), TaskKind::copy, "push of gradients") == 9 * kSteps);
}

TEST_CASE("the planner says how many partitions and servers there are") {
  const Plan plan = plan_of(on(8), "byteps");
  const auto& list = plan.decisions.list();
  const auto found =
      std::find_if(list.begin(), list.end(), [](const Decision& d) { return d.subject == "servers"; });
  REQUIRE(found != list.end());
  CHECK(found->choice == "2 for 2 nodes, ps-lite over RDMA");
}

TEST_CASE("one server's machine takes the gradients of both nodes, two share them") {
  SmallPlan two = on(8, test::resnet18());
  two.spec.fabric.link.bandwidth = {1e9};
  two.knobs.edit<ServerOptions>().dedicated_servers = true;
  SmallPlan one = two;
  one.knobs.edit<ServerOptions>().servers = 1;
  const double psi = static_cast<double>(two.workload.model->gradient_bytes().count);
  CHECK(run_plan(one, "byteps").last_step_s() > 2 * psi / (0.97 * 1e9));
  CHECK(run_plan(two, "byteps").last_step_s() < 0.75 * run_plan(one, "byteps").last_step_s());
}

TEST_CASE("the planner says that the job's GPUs do not count the servers' machines") {
  SmallPlan small = on(8);
  small.knobs.edit<ServerOptions>().dedicated_servers = true;
  const auto list = plan_of(small, "byteps").decisions.list();
  const auto found =
      std::find_if(list.begin(), list.end(), [](const Decision& d) { return d.subject == "servers"; });
  REQUIRE(found != list.end());
  CHECK_THAT(std::string(found->why), ContainsSubstring("machines of their own"));
}

TEST_CASE("on one node machines for servers stay unused") {
  SmallPlan small = on(4), apart = on(4);
  apart.knobs.edit<ServerOptions>().dedicated_servers = true;
  CHECK(run_plan(apart, "byteps").last_step_s() == run_plan(small, "byteps").last_step_s());
}

TEST_CASE("partitions that are too small for the gradients are refused with the option's name") {
  const auto message = [](const Model& model) {
    SmallPlan small = on(8, model);
    small.knobs.edit<BytepsOptions>().partition_bytes = {1024};
    try {
      plan_of(small, "byteps");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(test::mnist_net()).empty());
  Model huge;
  huge.input = {1'000'000};
  huge.layers = {test::linear(1'000'000), test::plain("loss")};  // 1e12 weights, in partitions of 4096
  CHECK_THAT(message(huge),
             ContainsSubstring("strategy.partition_bytes = 1.02 kB cuts the gradients into 244") &&
                 ContainsSubstring("at most 200000, and 65536 of one gradient"));
}

}  // namespace byteps_test
