// One step under each framework and way of running: what the host pays, and which kernels come with it.
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace step_launches_test {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan under(FrameworkKind kind, Execution execution) {
  SmallPlan small;
  small.workload.framework = usual_framework(kind);
  small.workload.framework.execution = execution;
  small.workload.optimizer.form = forms_of(small.workload.optimizer.kind, small.workload.framework).front();
  return small;
}

/// Seconds of host tasks in the last step.
double host_seconds(const test::Ran& ran) {
  const auto& ends = ran.plan.step_ends;
  double sum = 0;
  for (TaskId id = ends[ends.size() - 2] + 1; id <= ends.back(); ++id) {
    const Task& task = ran.plan.graph.tasks()[id];
    if (task.kind == TaskKind::host) sum += to_seconds(task.duration);
  }
  return sum;
}

std::size_t kernels(const SmallPlan& small) {
  const Plan plan = plan_of(small, "single");
  std::size_t count = 0;
  for (const Task& task : plan.graph.tasks()) count += task.kind == TaskKind::kernel ? 1 : 0;
  return count / static_cast<std::size_t>(small.steps);
}

}  // namespace

TEST_CASE("the fewer calls Python makes, the less a step costs the host") {
  const double eager = host_seconds(run_plan(under(FrameworkKind::pytorch, Execution::eager), "single"));
  const double captured =
      host_seconds(run_plan(under(FrameworkKind::pytorch, Execution::cuda_graphs), "single"));
  const double graph = host_seconds(run_plan(under(FrameworkKind::tensorflow, Execution::graph), "single"));
  const double slow = host_seconds(run_plan(under(FrameworkKind::tensorflow, Execution::eager), "single"));
  CHECK(captured < 0.7 * eager);  // what is left: batch, zero_grad, optimizer, loop
  CHECK(graph < slow);
  CHECK(eager < slow);
}

TEST_CASE("captured kernels are launched together, after a copy of the batch to where they read it") {
  const SmallPlan small = under(FrameworkKind::pytorch, Execution::cuda_graphs);
  const Plan plan = plan_of(small, "single");
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "static inputs").size() ==
        static_cast<std::size_t>(small.steps));
  CHECK(kernels(small) == kernels(under(FrameworkKind::pytorch, Execution::eager)) + 1);
}

TEST_CASE("compiled code pays guards once forward and once backward") {
  SmallPlan small = under(FrameworkKind::pytorch, Execution::compiled);
  const double now = host_seconds(run_plan(small, "single"));
  small.device.host.compiled_call += microseconds(100);
  // In milliseconds: the slowdown of the test's host multiplies.
  CHECK(host_seconds(run_plan(small, "single")) - now ==
        Approx(200e-6 * small.spec.node.host.slowdown).epsilon(0.01));
}

TEST_CASE("TensorFlow adds metrics, and L2 terms where weights decay") {
  SmallPlan small = under(FrameworkKind::tensorflow, Execution::graph);
  const std::size_t bare = kernels(small);
  small.workload.loop.hooks = LoopHooks::keras;
  CHECK(kernels(small) == bare + 12);
  small.workload.optimizer.weight_decay = true;
  CHECK(kernels(small) == bare + 12 + 4 * (3 + 5));  // four weights
}

TEST_CASE("PyTorch has no nodes beside its operators") {
  SmallPlan small = under(FrameworkKind::pytorch, Execution::eager);
  const std::size_t bare = kernels(small);
  small.workload.loop.hooks = LoopHooks::keras;
  CHECK(kernels(small) == bare);
}

TEST_CASE("TensorFlow's gradients are new in every step, whatever zero_grad says") {
  SmallPlan small = under(FrameworkKind::tensorflow, Execution::graph);
  const std::size_t bare = kernels(small);
  small.workload.loop.zero_grad = TrainingLoop::ZeroGrad::zero;
  CHECK(kernels(small) == bare);
}

}  // namespace step_launches_test
