// FSDP's gathers: which, how often, in what order, and when they may run.
#include "sim/strategy/fsdp/fsdp_gathering.hpp"

#include <algorithm>

#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace fsdp_gathering_test {

using namespace foretrain;
using test::blocks_on;
using test::kLinear;
using test::plan_of;
using test::run_plan;
using test::Sent;
using test::sent_per_step;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr std::int64_t kBlock = 4 * kLinear, kRoot = 8 * kLinear;  // bytes

/// Labels of the collectives of the first step, in the order of NCCL's stream.
std::vector<std::string> order_of(const Plan& plan) {
  std::vector<std::string> labels;
  for (TaskId id = 0; id < plan.step_ends[0]; ++id) {
    const Task& task = plan.graph.tasks()[id];
    if (task.kind == TaskKind::collective) labels.emplace_back(plan.graph.label_text(task.label));
  }
  return labels;
}

/// The forward gather of each step's units: root, block 0, block 1, …
std::vector<TaskId> forward_gathers(const Plan& plan, std::size_t step) {
  const auto all = tasks_labelled(plan.graph, TaskKind::collective, "all_gather in forward");
  const std::size_t each = all.size() / plan.step_ends.size();
  return {all.begin() + static_cast<std::ptrdiff_t>(step * each),
          all.begin() + static_cast<std::ptrdiff_t>((step + 1) * each)};
}

SmallPlan with_version(SmallPlan small, FrameworkVersion version) {
  small.workload.framework.version = version;
  return small;
}

SmallPlan with_sharding(SmallPlan small, Sharding sharding) {
  small.knobs.edit<FsdpOptions>().sharding = sharding;
  return small;
}

/// The network with all parameters of a layer frozen.
SmallPlan with_frozen(SmallPlan small, std::string_view layer) {
  ExpandedModel model = *small.workload.model;
  std::vector<std::uint32_t> places;  // of each parameter among those that are left
  std::vector<Parameter> trained;
  for (const Parameter& parameter : model.parameters) {
    const bool freezes = model.layer_names[parameter.layer] == layer;
    places.push_back(static_cast<std::uint32_t>(trained.size()));
    (freezes ? model.frozen : trained).push_back(parameter);
  }
  for (BackwardStep& step : model.backward) {
    std::erase_if(step.ready,
                  [&](std::uint32_t i) { return model.layer_names[model.parameters[i].layer] == layer; });
    for (std::uint32_t& parameter : step.ready) parameter = places[parameter];
  }
  model.parameters = std::move(trained);
  small.workload.model = std::make_shared<const ExpandedModel>(std::move(model));
  return small;
}

/// A GPU so slow that the host is always far ahead.
SmallPlan slow_gpu(SmallPlan small) {
  small.device.kernel.time_scale = 200;
  return small;
}

}  // namespace

TEST_CASE("full_shard gathers every unit in forward and all but the root again in backward") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    INFO(strategy);
    const Plan plan = plan_of(blocks_on(4), strategy);
    CHECK(sent_per_step(plan, "all_gather in forward") == Sent{kRoot + 4 * kBlock, 5});
    CHECK(sent_per_step(plan, "all_gather in backward") == Sent{4 * kBlock, 4});
  }
}

TEST_CASE("a unit whose parameters are all frozen is sharded again behind its backward pass") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    INFO(strategy);
    const Plan plan = plan_of(with_frozen(blocks_on(4), "block.2.linear"), strategy);
    CHECK(sent_per_step(plan, "all_gather in forward") == Sent{kRoot + 4 * kBlock, 5});
    CHECK(sent_per_step(plan, "all_gather in backward") == Sent{4 * kBlock, 4});
    CHECK(sent_per_step(plan, "reduce_scatter of units").count == 4);
  }
}

TEST_CASE("shard_grad_op gathers every unit once and keeps it for backward") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    INFO(strategy);
    const Plan plan = plan_of(with_sharding(blocks_on(4), Sharding::shard_grad_op), strategy);
    CHECK(sent_per_step(plan, "all_gather in forward") == Sent{kRoot + 4 * kBlock, 5});
    CHECK(sent_per_step(plan, "all_gather in backward").count == 0);
  }
}

TEST_CASE("no_shard gathers nothing") {
  const Plan plan = plan_of(with_sharding(blocks_on(4), Sharding::no_shard), "fsdp");
  CHECK(sent_per_step(plan, "all_gather").count == 0);
  CHECK(sent_per_step(plan, "all_reduce of units") == Sent{kRoot + 4 * kBlock, 5});
}

TEST_CASE("a gather is padded to a multiple of the ranks") {
  SmallPlan small = blocks_on(3);
  small.spec.nodes = 3;
  // 1,049,600 = 3 x 349,866 + 2: one element more. The root's 2,099,200 lack two.
  CHECK(sent_per_step(plan_of(small, "fsdp"), "all_gather in backward").bytes == 4 * (kBlock + 4));
  CHECK(sent_per_step(plan_of(small, "fsdp"), "all_gather in forward").bytes == 4 * (kBlock + 4) + kRoot + 8);
}

TEST_CASE("sixteen-bit weights halve the gathers and cast the shards first") {
  SmallPlan small = blocks_on(4);
  small.workload.precision = Precision::bf16, small.workload.half_weights = true;
  const Plan plan = plan_of(small, "fsdp");
  CHECK(sent_per_step(plan, "all_gather in forward").bytes == (kRoot + 4 * kBlock) / 2);
  CHECK(test::kernels_per_step(plan, "cast of shards") == 9);  // 5 gathers forward, 4 backward
  CHECK(test::kernels_per_step(plan_of(blocks_on(4), "fsdp"), "cast of shards") == 0);
}

TEST_CASE("with prefetch the next unit's gather stands before this unit's reduction, without it behind") {
  const std::string gather = "all_gather in backward", reduce = "reduce_scatter of units";
  std::vector<std::string> order = order_of(plan_of(with_version(blocks_on(4), {2, 0}), "fsdp"));
  order.erase(order.begin(), order.begin() + 5);  // forward
  // Block 3 at the root's, 2 at block 3's, …; the root is reduced last.
  CHECK(order ==
        std::vector<std::string>{gather, gather, reduce, gather, reduce, gather, reduce, reduce, reduce});
  order = order_of(plan_of(with_version(blocks_on(4), {1, 13}), "fsdp"));
  order.erase(order.begin(), order.begin() + 5);
  CHECK(order ==
        std::vector<std::string>{gather, reduce, gather, reduce, gather, reduce, gather, reduce, reduce});
}

TEST_CASE("prefetching after a unit's backward issues the gather behind its reduction") {
  SmallPlan small = blocks_on(4);
  small.knobs.edit<FsdpOptions>().backward_prefetch = BackwardPrefetch::post;
  std::vector<std::string> order = order_of(plan_of(small, "fsdp"));
  order.erase(order.begin(), order.begin() + 5);
  const std::string gather = "all_gather in backward", reduce = "reduce_scatter of units";
  CHECK(order ==
        std::vector<std::string>{gather, reduce, gather, reduce, gather, reduce, gather, reduce, reduce});
}

TEST_CASE("prefetching before is never slower than not prefetching on a slow network") {
  SmallPlan with = slow_gpu(blocks_on(4)), without = slow_gpu(blocks_on(4));
  with.spec = without.spec = test::star_cluster(4, {0.5e9});
  without.knobs.edit<FsdpOptions>().backward_prefetch = BackwardPrefetch::none;
  CHECK(run_plan(with, "fsdp").last_step_s() < run_plan(without, "fsdp").last_step_s());
}

TEST_CASE("the host runs ahead: a unit is gathered while the one before it computes") {
  const test::Ran ran = run_plan(slow_gpu(blocks_on(4)), "fsdp");
  const auto gathers = forward_gathers(ran.plan, 3);
  const auto kernels = tasks_labelled(ran.plan.graph, TaskKind::kernel, "block.1.linear");
  const std::size_t per_step = kernels.size() / ran.plan.step_ends.size();
  // Block 2's gather has ended before block 1's linear layer has.
  CHECK(ran.timeline.end_of(gathers[3]) < ran.timeline.end_of(kernels[3 * per_step]));
}

TEST_CASE("the rate limiter holds the host until an earlier unit is free") {
  SmallPlan limited = slow_gpu(blocks_on(4, 8)), free = limited;
  free.knobs.edit<FsdpOptions>().limit_all_gathers = false;
  const test::Ran a = run_plan(limited, "fsdp"), b = run_plan(free, "fsdp");
  const auto with = forward_gathers(a.plan, 3), without = forward_gathers(b.plan, 3);
  const auto head_start = [](const test::Ran& ran, const std::vector<TaskId>& gathers) {
    return to_seconds(ran.timeline.end_of(gathers.back()) - ran.timeline.end_of(gathers[1]));
  };
  // Without it all gathers follow one another; with it the last waits for block 5, five blocks' computing
  // later.
  CHECK(head_start(a, with) > 5 * head_start(b, without));
  // Neither costs time: compute is the limit.
  CHECK(a.last_step_s() == Approx(b.last_step_s()).epsilon(0.01));
}

TEST_CASE("at most three units are whole at a time under the rate limiter") {
  const test::Ran ran = run_plan(slow_gpu(blocks_on(4, 8)), "fsdp");
  const auto gathers = forward_gathers(ran.plan, 3);
  const auto relus = tasks_labelled(ran.plan.graph, TaskKind::kernel, "block.0.relu");
  const std::size_t per_step = relus.size() / ran.plan.step_ends.size();
  // Block 0 ends with its ReLU; the gather of block 3 (fourth after the root's) begins after that, as two are
  // freed one by one.
  CHECK(ran.timeline.spans[gathers[4]].start >= ran.timeline.end_of(relus[3 * per_step]));
}

TEST_CASE("before PyTorch 2.0 nothing is prefetched and the host is not held") {
  const SmallPlan old = with_version(blocks_on(4), {1, 13}), recent = with_version(blocks_on(4), {2, 0});
  const Plan a = plan_of(old, "fsdp"), b = plan_of(recent, "fsdp");
  CHECK(test::decision_about(a, "backward prefetch")->choice == "none");
  CHECK(test::decision_about(a, "rate limiter")->choice == "off");
  CHECK(test::decision_about(b, "backward prefetch")->choice == "before a unit's backward pass");
  CHECK(test::decision_about(b, "rate limiter")->choice == "at most two units in flight");
}

TEST_CASE("FSDP2 copies into and out of every gather") {
  const Plan plan = plan_of(blocks_on(4), "fsdp2");
  CHECK(test::kernels_per_step(plan, "copy into all-gather") == 9);
  CHECK(test::kernels_per_step(plan, "copy out of all-gather") == 9);
  CHECK(test::kernels_per_step(plan_of(blocks_on(4), "fsdp"), "copy out of all-gather") == 0);
}

TEST_CASE("forward_prefetch issues a gather before the kernels of the unit before it") {
  SmallPlan by_itself = blocks_on(4), asked = blocks_on(4);
  by_itself.spec.node.host.slowdown = asked.spec.node.host.slowdown =
      20;  // host-bound: the GPU waits for launches
  asked.knobs.edit<FsdpOptions>().forward_prefetch = true;
  const test::Ran a = run_plan(by_itself, "fsdp"), b = run_plan(asked, "fsdp");
  CHECK(sent_per_step(b.plan, "all_gather in forward") == sent_per_step(a.plan, "all_gather in forward"));
  const auto lead = [](const test::Ran& ran) {
    const auto kernels = tasks_labelled(ran.plan.graph, TaskKind::kernel, "block.0.linear");
    const TaskId gather = forward_gathers(ran.plan, 3)[2];  // block 1's
    return ran.timeline.spans[kernels[3 * kernels.size() / ran.plan.step_ends.size()]].start -
           ran.timeline.spans[gather].start;
  };
  CHECK(lead(a) < Time::zero());
  CHECK(lead(b) > Time::zero());
}

TEST_CASE("accumulation gathers anew in every micro-step, shard_grad_op keeps what it has") {
  SmallPlan full = blocks_on(4);
  full.knobs.accumulation = 3;
  CHECK(sent_per_step(plan_of(full, "fsdp"), "all_gather in backward").count == 12);
  const Plan kept = plan_of(with_sharding(full, Sharding::shard_grad_op), "fsdp");
  CHECK(sent_per_step(kept, "all_gather in forward").count == 5);
}

}  // namespace fsdp_gathering_test
