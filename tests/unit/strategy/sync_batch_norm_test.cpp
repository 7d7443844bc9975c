// SyncBatchNorm: two small collectives per norm, which the step waits for.
#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace sync_batch_norm_test {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan on(int gpus, bool sync, const Model& model = test::resnet18()) {
  SmallPlan small(model);
  small.gpus = gpus;
  small.knobs.edit<DdpOptions>().sync_batch_norm = sync;
  return small;
}

std::vector<TaskId> collectives(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::collective, "synchronised batch norm");
}

}  // namespace

TEST_CASE("every norm gathers its statistics forward and adds up its gradients backward") {
  const Plan plan = plan_of(on(4, true), "ddp");
  const auto sent = collectives(plan);
  REQUIRE(sent.size() == 2u * 20 * 5);  // 20 norms, 5 steps
  // The first norm has 64 channels: 4 ranks x (2 x 64 + 1) floats; the last of backward is the same norm: 2 x
  // 64 floats.
  CHECK(plan.graph.tasks()[sent[0]].traffic.count == 4 * 4 * (2 * 64 + 1));
  CHECK(plan.graph.tasks()[sent[39]].traffic.count == 4 * 2 * 64);
}

TEST_CASE("the host reads three times per norm which ranks had data") {
  const auto waits = [](const Plan& plan) {
    std::size_t count = 0;
    for (const Task& task : plan.graph.tasks()) count += task.kind == TaskKind::wait ? 1 : 0;
    return count;
  };
  CHECK(waits(plan_of(on(4, true), "ddp")) - waits(plan_of(on(4, false), "ddp")) == 3u * 20 * 5);
}

TEST_CASE("a norm's collectives are on the critical path: the step grows by at least their latencies") {
  const test::Ran with = run_plan(on(4, true), "ddp"), without = run_plan(on(4, false), "ddp");
  const auto sent = collectives(with.plan);
  double latency = 0;
  for (std::size_t i = 0; i < 40; ++i) latency += to_seconds(with.plan.graph.tasks()[sent[i]].duration);
  CHECK(with.last_step_s() - without.last_step_s() > 0.9 * latency);
}

TEST_CASE("one rank and networks without norms have nothing to synchronise") {
  CHECK(collectives(plan_of(on(4, true, test::mnist_net()), "ddp")).empty());
  SmallPlan alone = on(1, true);
  alone.knobs.edit<DdpOptions>().wrap_one_gpu = true;
  CHECK(collectives(plan_of(alone, "ddp")).empty());
}

TEST_CASE("norms are synchronised in every micro-step") {
  SmallPlan small = on(4, true);
  small.knobs.accumulation = 3;
  CHECK(collectives(plan_of(small, "ddp")).size() == 3u * 2 * 20 * 5);
}

TEST_CASE("steps with synchronised norms are steady from the third on") {
  const test::Ran ran = run_plan(on(4, true), "ddp");
  CHECK(ran.step_s(3) == Approx(ran.step_s(2)).epsilon(1e-9));
  CHECK(ran.step_s(4) == Approx(ran.step_s(3)).epsilon(1e-9));
}

}  // namespace sync_batch_norm_test
