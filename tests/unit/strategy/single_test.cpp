// The plain loop on one GPU: what bounds a step, and what the script's choices change.
#include "sim/strategy/step/single.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace single_test {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

/// Kernels a hundred times as long: nothing but the GPU matters.
SmallPlan compute_bound() {
  SmallPlan small(test::mnist_net(), 64);
  small.device.kernel.time_scale = 100;
  return small;
}

/// Seconds of all kernels of the last step.
double kernel_seconds(const test::Ran& ran) {
  const auto& ends = ran.plan.step_ends;
  double sum = 0;
  for (TaskId id = ends[ends.size() - 2] + 1; id <= ends.back(); ++id) {
    const Task& task = ran.plan.graph.tasks()[id];
    if (task.kind == TaskKind::kernel) sum += to_seconds(task.duration);
  }
  return sum;
}

int count_kind(const Plan& plan, TaskKind kind) {
  int n = 0;
  for (const Task& task : plan.graph.tasks()) n += task.kind == kind ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("a compute-bound step is the sum of its kernels and the copy of its batch") {
  const test::Ran ran = run_plan(compute_bound(), "single");
  // 64 samples of 784 floats and an 8-byte label over 98.4 GB/s, and 1 us of the one PCIe hop.
  const double copy = 64 * (784 * 4 + 8) / 98.4e9 + 1e-6;
  CHECK(ran.last_step_s() == Approx(kernel_seconds(ran) + copy).epsilon(1e-6));
  CHECK(ran.share(Account::compute) > 0.9 * ran.last_step_s());
}

TEST_CASE("the step of a host-bound network grows with the slowness of the CPU, not with the batch") {
  SmallPlan small(test::spiral_mlp(), 8);
  small.spec.node.host.slowdown = 10;
  const double slow = run_plan(small, "single").last_step_s();
  small.workload.batch_per_gpu = 64;
  CHECK(run_plan(small, "single").last_step_s() == Approx(slow).epsilon(0.01));
  small.spec.node.host.slowdown = 20;
  const test::Ran slower = run_plan(small, "single");
  CHECK(slower.last_step_s() > 1.8 * slow);
  CHECK(slower.share(Account::host) > 0.8 * slower.last_step_s());
}

TEST_CASE("a blocking copy makes the host wait for the GPU in every step") {
  SmallPlan free = compute_bound(), blocking = compute_bound();
  blocking.workload.loop.non_blocking = false;
  const test::Ran ran = run_plan(blocking, "single"), plain = run_plan(free, "single");
  CHECK(count_kind(ran.plan, TaskKind::wait) == count_kind(plain.plan, TaskKind::wait) + blocking.steps);
  CHECK(ran.last_step_s() > plain.last_step_s());
}

TEST_CASE("loss.item() makes the host wait in the steps in which it is called") {
  SmallPlan never, always, second;
  always.workload.loop.loss_item_every = 1;
  second.workload.loop.loss_item_every = 2;
  const auto waits = [](const SmallPlan& small) {
    return count_kind(plan_of(small, "single"), TaskKind::wait);
  };
  CHECK(waits(always) == waits(never) + 5);
  CHECK(waits(second) == waits(never) + 3);  // steps 0, 2 and 4 of five
}

TEST_CASE("loss.item() before backward costs more than after the step when the GPU is the bottleneck") {
  SmallPlan after = compute_bound(), before = compute_bound();
  after.workload.loop.loss_item_every = before.workload.loop.loss_item_every = 1;
  before.workload.loop.loss_item_before_backward = true;
  CHECK(run_plan(before, "single").last_step_s() > run_plan(compute_bound(), "single").last_step_s());
  CHECK(run_plan(after, "single").last_step_s() > run_plan(compute_bound(), "single").last_step_s());
}

TEST_CASE("amp_fp16 reads the scaler's flag each step and casts the weights, bf16 has no scaler") {
  SmallPlan full, half, brain;
  half.workload.precision = Precision::amp_fp16;
  brain.workload.precision = Precision::bf16;
  const Plan plain = plan_of(full, "single"), scaled = plan_of(half, "single"),
             bf16 = plan_of(brain, "single");
  CHECK(count_kind(scaled, TaskKind::wait) == count_kind(plain, TaskKind::wait) + full.steps);
  CHECK(count_kind(bf16, TaskKind::wait) == count_kind(plain, TaskKind::wait));
  // Two convolutions and two linear layers: a cast of the weight in forward and one per complete group of
  // gradients in backward.
  CHECK(count_kind(bf16, TaskKind::kernel) >= count_kind(plain, TaskKind::kernel) + 8 * full.steps);
  // The loss is scaled, gradients are unscaled and checked, the scale is updated.
  CHECK(count_kind(scaled, TaskKind::kernel) == count_kind(bf16, TaskKind::kernel) + 3 * full.steps);
}

TEST_CASE("gradients are added to existing ones when zero_grad keeps them") {
  SmallPlan none, zero;
  none.workload.loop.zero_grad = TrainingLoop::ZeroGrad::none;
  zero.workload.loop.zero_grad = TrainingLoop::ZeroGrad::zero;
  const int fresh = count_kind(plan_of(SmallPlan(), "single"), TaskKind::kernel);
  CHECK(count_kind(plan_of(none, "single"), TaskKind::kernel) ==
        fresh + 5 * 8);  // one addition per tensor and step
  CHECK(count_kind(plan_of(zero, "single"), TaskKind::kernel) == fresh + 5 * 2 * 8);  // and one zero_
}

TEST_CASE("accumulation runs forward and backward k times, the optimizer once") {
  SmallPlan one, three;
  three.knobs.accumulation = 3;
  const auto optimizer = [](const SmallPlan& small) {
    return tasks_labelled(plan_of(small, "single").graph, TaskKind::kernel, "optimizer").size();
  };
  const auto batches = [](const SmallPlan& small) {
    return tasks_labelled(plan_of(small, "single").graph, TaskKind::copy, "input batch").size();
  };
  CHECK(optimizer(three) == optimizer(one));
  CHECK(batches(three) == 3 * batches(one));
}

TEST_CASE("ranks of strategy single exchange nothing") {
  SmallPlan small;
  small.gpus = 4;
  CHECK(count_kind(plan_of(small, "single"), TaskKind::collective) == 0);
  CHECK(plan_of(small, "single").buckets.empty());
}

TEST_CASE("the host is never more than 1024 launches ahead of the GPU") {
  SmallPlan small = compute_bound();
  small.steps = 60;
  const test::Ran ran = run_plan(small, "single");
  std::vector<Time> called, ran_at;
  for (TaskId id = 0; id < ran.plan.graph.tasks().size(); ++id) {
    const Task& task = ran.plan.graph.tasks()[id];
    if (task.kind != TaskKind::kernel && task.kind != TaskKind::copy) continue;
    called.push_back(ran.timeline.spans[ran.plan.graph.dependencies(id).back().before].start);
    for (const Dependency& d : ran.plan.graph.dependencies(id)) {
      if (ran.plan.graph.tasks()[d.before].kind == TaskKind::host)
        called.back() = ran.timeline.spans[d.before].start;
    }
    ran_at.push_back(ran.timeline.spans[id].end);
  }
  REQUIRE(called.size() > 1024);
  for (std::size_t i = 1024; i < called.size(); ++i) REQUIRE(called[i] >= ran_at[i - 1024]);
}

}  // namespace single_test
