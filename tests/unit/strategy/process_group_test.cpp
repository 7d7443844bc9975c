// DDP over gloo: copies to the host and back, two operations at a time, a host that waits.
#include <algorithm>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace process_group_test {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan over_gloo(const Model& model = test::resnet18()) {
  SmallPlan small(model);
  small.gpus = 4;
  small.knobs.edit<DdpOptions>().backend = Backend::gloo;
  return small;
}

/// Nodes without a GPU: the cores compute.
SmallPlan on_cpus(const Model& model) {
  SmallPlan small = over_gloo(model);
  small.spec.node.gpu.architecture = Architecture::cpu;
  small.device.kernel = default_kernel_calibration(small.spec.node.gpu);
  return small;
}

Model sleeps(int layers, std::int64_t parameters, Time forward, Time backward) {
  Layer layer = test::plain("timed");
  test::set(layer, "parameters", parameters), test::set(layer, "forward", forward),
      test::set(layer, "backward", backward);
  Model model{"sleeps", "", {1}, false, std::vector<Layer>(static_cast<std::size_t>(layers), layer)};
  model.layers.push_back(test::plain("loss"));
  return model;
}

}  // namespace

TEST_CASE("over gloo the buckets are the same, each copied to the host before and to the GPU after") {
  const Plan nccl = plan_of(
      [] {
        SmallPlan small = over_gloo();
        small.knobs.edit<DdpOptions>().backend = Backend::nccl;
        return small;
      }(),
      "ddp");
  const Plan plan = plan_of(over_gloo(), "ddp");
  CHECK(plan.buckets == nccl.buckets);
  const auto out = tasks_labelled(plan.graph, TaskKind::copy, "copy of gradients to the host");
  const auto in = tasks_labelled(plan.graph, TaskKind::copy, "copy of gradients to the GPU");
  CHECK(out.size() == (plan.buckets.size() + 2) * 5);  // and the buffers of two types
  CHECK(in.size() == out.size());
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::collective, "all_reduce bucket"))
    CHECK(plan.graph.tasks()[id].device == kNone);
}

TEST_CASE("without a GPU nothing is staged") {
  const Plan plan = plan_of(on_cpus(test::resnet18()), "ddp");
  CHECK(tasks_labelled(plan.graph, TaskKind::copy, "copy of gradients").empty());
  CHECK(tasks_labelled(plan.graph, TaskKind::collective, "all_reduce bucket").size() ==
        plan.buckets.size() * 5);
}

TEST_CASE("at most two operations of gloo are in progress, in the order they were asked for") {
  SmallPlan small = on_cpus(sleeps(8, 500'000, microseconds(100), microseconds(100)));
  small.spec = test::star_cluster(4, {0.1e9});
  small.spec.node.gpu.architecture = Architecture::cpu;
  small.knobs.edit<DdpOptions>().bucket_cap = {1 << 20};
  const test::Ran ran = run_plan(small, "ddp");
  REQUIRE(ran.plan.buckets.size() == 8);
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_reduce bucket");
  for (std::size_t i = 2; i < 8; ++i) {
    const Time start = ran.timeline.spans[sent[i]].start;
    CHECK(start >= ran.timeline.spans[sent[i - 1]].start);
    CHECK(start >= std::min(ran.timeline.end_of(sent[i - 1]), ran.timeline.end_of(sent[i - 2])));
  }
  // The first two share the links.
  CHECK(ran.timeline.spans[sent[1]].start < ran.timeline.end_of(sent[0]));
}

TEST_CASE("over gloo the step on CPUs is computing, then the ring of what is left") {
  // One layer: its all-reduce begins when backward ends. A ring of four sends 3/2 of 4 MB at 97 % of 0.1
  // GB/s.
  SmallPlan small = on_cpus(sleeps(1, 1'000'000, milliseconds(10), milliseconds(20)));
  small.spec = test::star_cluster(4, {0.1e9});
  small.spec.node.gpu.architecture = Architecture::cpu;
  const double ring = 1.5 * 4e6 / (0.97 * 0.1e9);
  CHECK(run_plan(small, "ddp").last_step_s() == Approx(0.030 + ring).epsilon(0.03));
}

TEST_CASE("gloo's library asks the host to wait where NCCL does not") {
  const test::Ran gloo = run_plan(over_gloo(), "ddp");
  const auto sent = tasks_labelled(gloo.plan.graph, TaskKind::collective, "all_reduce bucket");
  const auto copies = tasks_labelled(gloo.plan.graph, TaskKind::kernel, "bucket to gradient");
  // The first copy back of the first step is launched after the first bucket is through, not only run.
  const std::span<const Dependency> needs = gloo.plan.graph.dependencies(copies.front());
  CHECK(gloo.timeline.end_of(needs[1].before) > gloo.timeline.end_of(sent[0]));
}

TEST_CASE("gloo is slower than NCCL between GPUs") {
  SmallPlan nccl = over_gloo();
  nccl.knobs.edit<DdpOptions>().backend = Backend::nccl;
  CHECK(run_plan(over_gloo(), "ddp").last_step_s() > run_plan(nccl, "ddp").last_step_s());
}

TEST_CASE("one process over gloo exchanges with nobody") {
  SmallPlan alone = over_gloo();
  alone.gpus = 1;
  alone.knobs.edit<DdpOptions>().wrap_one_gpu = true;
  const Plan plan = plan_of(alone, "ddp");
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::collective, "all_reduce bucket")) {
    CHECK(plan.graph.tasks()[id].pattern == kNone);
    CHECK(plan.graph.tasks()[id].duration == Time::zero());
  }
}

TEST_CASE("hooks run over gloo, too, and steps are steady from the third on") {
  for (const Compression compression : {Compression::none, Compression::fp16, Compression::powersgd}) {
    SmallPlan small = over_gloo();
    small.knobs.edit<GradientOptions>().compression = compression;
    const test::Ran ran = run_plan(small, "ddp");
    CHECK(ran.step_s(3) == Approx(ran.step_s(2)).epsilon(1e-6));
    CHECK(ran.step_s(4) == Approx(ran.step_s(3)).epsilon(1e-6));
  }
}

TEST_CASE("the decision on a collective over gloo names the algorithm") {
  const Plan plan = plan_of(over_gloo(), "ddp");
  const auto& list = plan.decisions.list();
  CHECK(
      std::any_of(list.begin(), list.end(), [](const Decision& d) { return d.choice == "ring over gloo"; }));
}

TEST_CASE("nodes without GPUs use gloo whatever was asked for") {
  SmallPlan small = on_cpus(test::mnist_net());
  const Plan gloo = plan_of(small, "ddp");
  small.knobs.edit<DdpOptions>().backend = Backend::nccl;
  const Plan asked = plan_of(small, "ddp");
  CHECK(asked.graph.tasks().size() == gloo.graph.tasks().size());
  const auto& list = asked.decisions.list();
  CHECK(std::any_of(list.begin(), list.end(),
                    [](const Decision& d) { return d.subject == "backend" && d.choice == "gloo"; }));
}

}  // namespace process_group_test
