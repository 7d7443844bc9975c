// FSDP's gradients: what is reduced, how it is divided, and what the shards cost.
#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace fsdp_reduction_test {

using namespace foretrain;
using test::blocks_on;
using test::kernels_per_step;
using test::kLinear;
using test::plan_of;
using test::run_plan;
using test::Sent;
using test::sent_per_step;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan in_half(SmallPlan small) {
  small.workload.precision = Precision::bf16, small.workload.half_weights = true;
  return small;
}

SmallPlan hybrid(int gpus) {
  SmallPlan small = blocks_on(gpus);
  small.spec = test::nvlink_cluster(2, 2);
  small.knobs.edit<FsdpOptions>().sharding = Sharding::hybrid_shard;
  return small;
}

}  // namespace

TEST_CASE("gradients are divided by about the root of the ranks before they are summed") {
  // Doubled as long as it divides the ranks and is less than what is left.
  CHECK(gradient_predivide_factor(1) == 1);
  CHECK(gradient_predivide_factor(2) == 2);
  CHECK(gradient_predivide_factor(4) == 2);
  CHECK(gradient_predivide_factor(8) == 4);
  CHECK(gradient_predivide_factor(16) == 4);
  CHECK(gradient_predivide_factor(64) == 8);
  CHECK(gradient_predivide_factor(3) == 2);
  CHECK(gradient_predivide_factor(6) == 4);
}

TEST_CASE("each unit is reduce-scattered once, the last block first and the root last") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    INFO(strategy);
    const Plan plan = plan_of(blocks_on(4), strategy);
    const std::int64_t block = 4 * kLinear;
    CHECK(plan.buckets == std::vector<Bytes>{{block}, {block}, {block}, {block}, {2 * block}});
    CHECK(sent_per_step(plan, "reduce_scatter of units") == Sent{6 * block, 5});
  }
}

TEST_CASE("a unit is reduced while the one before it is still in backward") {
  SmallPlan small = blocks_on(4);
  small.device.kernel.time_scale = 200;
  const test::Ran ran = run_plan(small, "fsdp");
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "reduce_scatter of units");
  const auto kernels = tasks_labelled(ran.plan.graph, TaskKind::kernel, "block.0.linear");
  const std::size_t per_step = kernels.size() / ran.plan.step_ends.size();
  // The first reduction of a step (block 3) has ended before block 0's last kernel has begun.
  CHECK(ran.timeline.end_of(sent[3 * 5]) < ran.timeline.spans[kernels[4 * per_step - 1]].start);
}

TEST_CASE("the optimizer waits for the root's reduction") {
  const test::Ran ran = run_plan(blocks_on(4), "fsdp");
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "reduce_scatter of units");
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::kernel, "optimizer");
  CHECK(ran.timeline.spans[updates.front()].start >= ran.timeline.end_of(sent[4]));
}

TEST_CASE("FSDP1 writes a flat gradient per unit and divides it twice") {
  const Plan plan = plan_of(blocks_on(4), "fsdp");
  CHECK(kernels_per_step(plan, "flat gradient") == 5);
  CHECK(kernels_per_step(plan, "divide gradient") == 5);    // by 2
  CHECK(kernels_per_step(plan, "gradient to shard") == 5);  // by 4 / 2
  SmallPlan two = blocks_on(2);
  CHECK(kernels_per_step(plan_of(two, "fsdp"), "gradient to shard") == 0);  // 2 / 2 = 1
}

TEST_CASE("FSDP2 has no flat gradient, and NCCL averages in fp32") {
  const Plan plan = plan_of(blocks_on(4), "fsdp2");
  CHECK(kernels_per_step(plan, "flat gradient") == 0);
  CHECK(kernels_per_step(plan, "divide gradient") == 5);  // the copy into the reduction's buffer
  CHECK(kernels_per_step(plan, "gradient to shard") == 0);
  CHECK(kernels_per_step(plan_of(in_half(blocks_on(4)), "fsdp2"), "gradient to shard") == 5);  // back to fp32
}

TEST_CASE("in FSDP2 a unit's backward waits until the unit two before has been reduced") {
  SmallPlan small = blocks_on(4);
  small.spec = test::star_cluster(4, {0.1e9});  // reductions take much longer than backward
  const test::Ran ran = run_plan(small, "fsdp2");
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "reduce_scatter of units");
  const auto kernels = tasks_labelled(ran.plan.graph, TaskKind::kernel, "block.1.linear");
  const std::size_t per_step = kernels.size() / ran.plan.step_ends.size();
  // Blocks 3 and 2 are reduced first and second; block 2's post-backward stops the compute stream behind
  // block 3's reduction.
  CHECK(ran.timeline.spans[kernels[4 * per_step - 1]].start >= ran.timeline.end_of(sent[3 * 5]));
}

TEST_CASE("half the bytes travel in sixteen bits, and the shard is cast back") {
  const Plan full = plan_of(blocks_on(4), "fsdp"), half = plan_of(in_half(blocks_on(4)), "fsdp");
  CHECK(2 * sent_per_step(half, "reduce_scatter").bytes == sent_per_step(full, "reduce_scatter").bytes);
  CHECK(kernels_per_step(half, "gradient to shard") == 5);
}

TEST_CASE("hybrid_shard reduces inside the node and sums shards between nodes") {
  const Plan plan = plan_of(hybrid(8), "fsdp");
  const std::int64_t all = 4 * 6 * kLinear;
  CHECK(sent_per_step(plan, "reduce_scatter of units") == Sent{all, 5});
  CHECK(sent_per_step(plan, "shards between replicas") == Sent{all / 4, 5});  // four GPUs hold a copy
  CHECK(sent_per_step(plan_of(hybrid(4), "fsdp"), "shards between replicas").count == 0);
}

TEST_CASE("between slow nodes hybrid_shard is faster than sharding over all") {
  SmallPlan inside = hybrid(8), over_all = hybrid(8);
  over_all.knobs.edit<FsdpOptions>().sharding = Sharding::full_shard;
  inside.spec.fabric.link.bandwidth = over_all.spec.fabric.link.bandwidth = {1e9};
  CHECK(run_plan(inside, "fsdp").last_step_s() < run_plan(over_all, "fsdp").last_step_s());
}

TEST_CASE("without synchronisation gradients are added up and stay") {
  SmallPlan small = blocks_on(4);
  small.knobs.accumulation = 3;
  const Plan plan = plan_of(small, "fsdp");
  CHECK(sent_per_step(plan, "reduce_scatter of units").count == 5);
  CHECK(kernels_per_step(plan, "flat gradient") ==
        3 * 5 + 2 * 5);  // written in each, added in the second and third
}

TEST_CASE("a script that does not set gradients to None adds to the shards, not to the units") {
  SmallPlan kept = blocks_on(2);
  kept.workload.loop.zero_grad = TrainingLoop::ZeroGrad::none;
  const Plan plan = plan_of(kept, "fsdp");
  CHECK(kernels_per_step(plan, "gradient to shard") == 5);
  CHECK(test::tasks_labelled(plan.graph, TaskKind::kernel, "gradient").size() == 5u * 5);
}

}  // namespace fsdp_reduction_test
