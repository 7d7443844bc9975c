// Communication hooks of DDP: what they send, what they compute, and where the host waits.
#include <algorithm>
#include <numeric>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace ddp_hook_test {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan with(Compression compression, const Model& model = test::resnet18()) {
  SmallPlan small(model);
  small.gpus = 4;
  small.knobs.edit<GradientOptions>().compression = compression;
  return small;
}

std::int64_t sum(const std::vector<Bytes>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0},
                         [](std::int64_t total, Bytes size) { return total + size.count; });
}

/// Bytes of all collectives of a step.
std::int64_t sent_per_step(const Plan& plan, int steps) {
  std::int64_t sent = 0;
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::collective, "all_reduce"))
    sent += plan.graph.tasks()[id].traffic.count;
  return sent / steps;
}

std::size_t hook_kernels(const Plan& plan, int steps) {
  return tasks_labelled(plan.graph, TaskKind::kernel, "communication hook").size() /
         static_cast<std::size_t>(steps);
}

}  // namespace

TEST_CASE("16-bit hooks halve the bytes on the wire and leave the buckets") {
  const Plan plain = plan_of(with(Compression::none), "ddp");
  for (const Compression half : {Compression::fp16, Compression::bf16}) {
    const SmallPlan small = with(half);
    const Plan plan = plan_of(small, "ddp");
    REQUIRE(plan.buckets.size() == plain.buckets.size());
    for (std::size_t b = 0; b < plan.buckets.size(); ++b)
      CHECK(plan.buckets[b].count * 2 == plain.buckets[b].count);
    CHECK(sum(plan.buckets) == 2 * 11'689'512);
    CHECK(sent_per_step(plan, small.steps) == sum(plan.buckets));
    CHECK(plan.memory.buffers.count == 4 * 11'689'512 + 2 * 11'689'512);
  }
}

TEST_CASE("a 16-bit hook adds three kernels per bucket: cast, divide, cast back beside the compute stream") {
  const SmallPlan small = with(Compression::fp16);
  const Plan plan = plan_of(small, "ddp");
  CHECK(hook_kernels(plan, small.steps) == 3 * plan.buckets.size());
  std::size_t beside = 0;
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::kernel, "communication hook"))
    beside += plan.graph.queues()[plan.graph.tasks()[id].queue].name == "hook stream" ? 1 : 0;
  CHECK(beside == plan.buckets.size() * 5);
}

TEST_CASE("a hook's own Python is paid once for each bucket, without a hook by nobody") {
  const auto paid = [](Compression compression) {
    const SmallPlan small = with(compression);
    const Plan plan = plan_of(small, "ddp");
    const Time python = calls_of(small.spec).ddp_hook_python;
    return std::ranges::count_if(
               plan.graph.tasks(),
               [&](const Task& task) { return task.kind == TaskKind::host && task.duration == python; }) /
           small.steps;
  };
  const auto buckets = std::ssize(plan_of(with(Compression::none), "ddp").buckets);
  const auto others = paid(Compression::none);  // calls that happen to take as long
  CHECK(others < buckets);
  CHECK(paid(Compression::fp16) == others + buckets);
  CHECK(paid(Compression::powersgd) == others + buckets);
}

TEST_CASE("gradients that are in 16 bit already are not cast") {
  SmallPlan small = with(Compression::fp16);
  small.workload.precision = Precision::bf16;
  small.workload.half_weights = true;
  const Plan plan = plan_of(small, "ddp");
  CHECK(hook_kernels(plan, small.steps) == 0);
  CHECK(sum(plan.buckets) == 2 * 11'689'512);
}

TEST_CASE("half the bytes pay where the network is slow, not where it hides") {
  SmallPlan plain = with(Compression::none), half = with(Compression::fp16);
  for (SmallPlan* small : {&plain, &half}) small->spec = test::star_cluster(4, {0.1e9});
  // 11.7 M gradients at 0.1 GB/s: a ring of four sends 1.5 times the bytes, of which half is left.
  const double saved = run_plan(plain, "ddp").last_step_s() - run_plan(half, "ddp").last_step_s();
  CHECK(saved == Approx(1.5 * 2 * 11'689'512 / 0.1e9).epsilon(0.1));
  CHECK(run_plan(with(Compression::fp16), "ddp").last_step_s() >
        0.98 * run_plan(with(Compression::none), "ddp").last_step_s());
}

TEST_CASE("PowerSGD sends three messages per bucket, one after the other") {
  const SmallPlan small = with(Compression::powersgd);
  const Plan plan = plan_of(small, "ddp");
  const Plan plain = plan_of(with(Compression::none), "ddp");
  CHECK(plan.buckets.size() == 3 * plain.buckets.size());
  CHECK(sum(plan.buckets) < sum(plain.buckets) / 50);  // rank 1
  CHECK(sent_per_step(plan, small.steps) == sum(plan.buckets));
  const auto sent = tasks_labelled(plan.graph, TaskKind::collective, "all_reduce of PowerSGD");
  REQUIRE(sent.size() == plan.buckets.size() * 5);
  for (std::size_t i = 0; i < sent.size(); ++i)
    CHECK(plan.graph.tasks()[sent[i]].traffic == plan.buckets[i % plan.buckets.size()]);
}

TEST_CASE("PowerSGD stops backward until a bucket is through") {
  const test::Ran ran = run_plan(with(Compression::powersgd), "ddp");
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_reduce of PowerSGD");
  const auto copies = tasks_labelled(ran.plan.graph, TaskKind::kernel, "gradient to bucket");
  // ResNet-18's first bucket holds the last layer alone: two gradients, then the third after the exchange of
  // the first bucket.
  CHECK(ran.timeline.spans[copies[2]].start > ran.timeline.end_of(sent[2]));
  CHECK(ran.plan.memory.buffers.count > 2 * 4 * 11'689'512);  // buckets, errors, a copy of the largest
}

TEST_CASE("a higher rank of PowerSGD sends and computes more") {
  SmallPlan one = with(Compression::powersgd), four = with(Compression::powersgd);
  four.knobs.edit<DdpOptions>().powersgd_rank = 4;
  const Plan a = plan_of(one, "ddp"), b = plan_of(four, "ddp");
  CHECK(sum(b.buckets) > 2 * sum(a.buckets));
  CHECK(hook_kernels(b, 5) > hook_kernels(a, 5));
}

TEST_CASE("PowerSGD pays on a slow network and costs on a fast one") {
  SmallPlan slow = with(Compression::none), compressed = with(Compression::powersgd);
  for (SmallPlan* small : {&slow, &compressed}) small->spec = test::star_cluster(4, {50e9});
  CHECK(run_plan(compressed, "ddp").last_step_s() > run_plan(slow, "ddp").last_step_s());
  for (SmallPlan* small : {&slow, &compressed}) small->spec = test::star_cluster(4, {0.02e9});
  CHECK(run_plan(compressed, "ddp").last_step_s() < 0.1 * run_plan(slow, "ddp").last_step_s());
}

TEST_CASE("the decision on a communication hook says what goes over the wire") {
  const Plan plan = plan_of(with(Compression::powersgd), "ddp");
  const auto& list = plan.decisions.list();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [](const Decision& d) { return d.subject == "communication hook"; });
  REQUIRE(found != list.end());
  CHECK_THAT(found->choice, ContainsSubstring("instead of"));
  CHECK_THAT(found->why, ContainsSubstring("rank 1"));
}

TEST_CASE("steps with hooks are steady from the third on") {
  for (const Compression compression : {Compression::fp16, Compression::powersgd}) {
    const test::Ran ran = run_plan(with(compression), "ddp");
    CHECK(ran.step_s(3) == Approx(ran.step_s(2)).epsilon(1e-9));
    CHECK(ran.step_s(4) == Approx(ran.step_s(3)).epsilon(1e-9));
  }
}

}  // namespace ddp_hook_test
