// Between backward and the next step: the GradScaler's kernels, clipping, and where the host waits.
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace gradient_update_test {

using namespace foretrain;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

int count_kind(const Plan& plan, TaskKind kind) {
  int n = 0;
  for (const Task& task : plan.graph.tasks()) n += task.kind == kind ? 1 : 0;
  return n;
}

std::size_t clipping_kernels(const SmallPlan& small) {
  return tasks_labelled(plan_of(small, "single").graph, TaskKind::kernel, "clip_grad_norm").size() /
         static_cast<std::size_t>(small.steps);
}

}  // namespace

TEST_CASE("the scaler multiplies the loss, checks all gradients in one launch and updates its scale") {
  SmallPlan scaled, plain;
  scaled.workload.precision = Precision::amp_fp16;
  CHECK(clipping_kernels(scaled) == 3);  // the network's 8 tensors fit one multi-tensor launch
  CHECK(clipping_kernels(plain) == 0);
}

TEST_CASE("clipping packs tensors since PyTorch 2.0 and runs over each before") {
  SmallPlan small;
  small.workload.loop.clip_grad_norm = GradientClipping::on_device;
  CHECK(clipping_kernels(small) == 1 + 5 + 1);
  small.workload.framework.version = {1, 13};
  CHECK(clipping_kernels(small) == 8 + 5 + 8);
}

TEST_CASE("the host waits for a clipped norm only when the script reads it") {
  SmallPlan none, clipped, read;
  clipped.workload.loop.clip_grad_norm = GradientClipping::on_device;
  read.workload.loop.clip_grad_norm = GradientClipping::read_back;
  const int waits = count_kind(plan_of(none, "single"), TaskKind::wait);
  CHECK(count_kind(plan_of(clipped, "single"), TaskKind::wait) == waits);
  CHECK(count_kind(plan_of(read, "single"), TaskKind::wait) == waits + read.steps);
}

TEST_CASE("accuracy is counted and read where the loss is, by two more items") {
  SmallPlan loss, both;
  loss.workload.loop.loss_item_every = both.workload.loop.loss_item_every = 2;  // steps 0, 2 and 4 of five
  both.workload.loop.metrics = LoopMetrics::accuracy;
  const Plan plain = plan_of(loss, "single"), counted = plan_of(both, "single");
  CHECK(count_kind(counted, TaskKind::wait) == count_kind(plain, TaskKind::wait) + 3 * 2);
  CHECK(tasks_labelled(counted.graph, TaskKind::kernel, "metrics").size() == 3 * 10);
}

}  // namespace gradient_update_test
