// FSDP with shards, gradients and optimizer in host memory.
#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "sim/strategy/process/offload_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace fsdp_offload_test {

using namespace foretrain;
using test::blocks_on;
using test::decision_about;
using test::kLinear;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr std::int64_t kAll = 6 * kLinear;

SmallPlan offloaded(int gpus) {
  SmallPlan small = blocks_on(gpus);
  small.workload.optimizer = {OptimizerKind::adamw, OptimizerForm::fused, false};
  small.spec.node.host.cpu = "2x AMD EPYC 7742", small.spec.node.host.cores = 128;
  small.spec.node.host.memory_bandwidth = {10e9};
  small.knobs.edit<FsdpOptions>().offload_params = true;
  return small;
}

std::int64_t copied_per_step(const Plan& plan, std::string_view label) {
  std::int64_t bytes = 0;
  for (const TaskId task : tasks_labelled(plan.graph, TaskKind::copy, label))
    bytes += plan.graph.tasks()[task].traffic.count;
  return bytes / static_cast<std::int64_t>(plan.step_ends.size());
}

}  // namespace

TEST_CASE("shards go up for every gather and gradients of the shards come down") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    INFO(strategy);
    const Plan plan = plan_of(offloaded(4), strategy);
    // A quarter of fp32: each block in forward and backward, the root once.
    CHECK(copied_per_step(plan, "shards from host memory") == 4 * (2 * 4 * kLinear + 2 * kLinear) / 4);
    CHECK(copied_per_step(plan, "gradient to host memory") == 4 * kAll / 4);
    CHECK(tasks_labelled(plan.graph, TaskKind::host, "update on the host").size() == plan.step_ends.size());
    CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "optimizer").empty());
    CHECK(decision_about(plan, "offload") != nullptr);
  }
}

TEST_CASE("the GPU keeps units in flight and the host shards with their moments and gradients") {
  const Plan plan = plan_of(offloaded(4), "fsdp2");
  CHECK(plan.memory.parameters == 0);
  CHECK(plan.memory.gradients == 0);
  CHECK(plan.memory.optimizer == 0);
  CHECK(plan.memory.buffers.count > 0);
  CHECK(plan.memory.host.masters.count == 4 * kAll / 4);
  CHECK(plan.memory.host.moments.count == 8 * kAll / 4);
  CHECK(plan.memory.host.gradients.count == 4 * kAll / 4);
}

TEST_CASE("offload makes a step longer, and longer still without page-locked memory or a fused optimizer") {
  SmallPlan plain = offloaded(4), pageable = offloaded(4), unfused = offloaded(4);
  plain.knobs.edit<FsdpOptions>().offload_params = false;
  pageable.knobs.edit<OffloadOptions>().pin_memory = false;
  unfused.workload.optimizer.form = OptimizerForm::foreach;
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    INFO(strategy);
    const double offload = run_plan(offloaded(4), strategy).last_step_s();
    CHECK(run_plan(plain, strategy).last_step_s() < offload);
    CHECK(run_plan(pageable, strategy).last_step_s() > offload);
    CHECK(run_plan(unfused, strategy).last_step_s() > offload);
  }
}

TEST_CASE("one GPU offloads, too, without a gather") {
  const Plan plan = plan_of(offloaded(1), "fsdp");
  CHECK(copied_per_step(plan, "shards from host memory") > 0);
  CHECK(tasks_labelled(plan.graph, TaskKind::collective, "all_gather").empty());
  CHECK(plan.memory.host.masters.count == 4 * kAll);
}

}  // namespace fsdp_offload_test
