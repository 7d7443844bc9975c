// MirroredStrategy on an idle machine: what the pack exposes, and copies through GPU 0, in closed form.
#include <algorithm>

#include "sim/strategy/replicas/replica_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace mirrored_physics {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr std::int64_t kVggGradients = 4LL * 138'357'544, kFirstLinear = 4LL * 25'088 * 4'096;
constexpr double kPeerRate = 0.64 * 12.3e9;  ///< copies between GPUs of one CPU

/// VGG-16 on GPUs that share one CPU's PCIe lanes; slow kernels, so that the host is always ahead of them.
SmallPlan vgg(int gpus) {
  SmallPlan small(test::vgg16(), 8);
  small.spec = test::pcie_cluster(1, 8);
  small.gpus = gpus;
  small.workload.framework = usual_framework(FrameworkKind::tensorflow);
  small.workload.optimizer.form = OptimizerForm::variable;
  small.device.kernel.time_scale = 2;
  return small;
}

double seconds_of(const test::Ran& ran, TaskId task) {
  return to_seconds(ran.timeline.spans[task].end - ran.timeline.spans[task].start);
}

}  // namespace

TEST_CASE("the packed sum is exposed for as long as it takes alone") {
  for (const int gpus : {2, 4, 8}) {
    const SmallPlan small = vgg(gpus);
    const test::Ran ran = run_plan(small, "mirrored");
    const test::OneJob job(small.spec, gpus);
    const double alone = to_seconds(job.plan(CollectiveOp::all_reduce, kVggGradients).alone);
    const auto sums = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_reduce pack");
    INFO(gpus << " GPUs");
    CHECK(seconds_of(ran, sums.back()) == Approx(alone).epsilon(0.01));
    CHECK(ran.share(Account::exposed_communication) == Approx(alone).epsilon(0.01));
  }
}

TEST_CASE("concatenation and split each read and write every gradient once") {
  const SmallPlan small = vgg(4);
  const test::Ran ran = run_plan(small, "mirrored");
  const Time once = memory_kernel_time({2 * kVggGradients}, small.spec.node.gpu, small.device.kernel);
  for (const std::string label : {"concatenation of gradients", "split of summed gradients"})
    CHECK(ran.plan.graph.tasks()[tasks_labelled(ran.plan.graph, TaskKind::kernel, label).front()].duration ==
          once);
}

TEST_CASE("N - 1 copies of a gradient into GPU 0 share its bus, and so do those of the sum") {
  for (const int gpus : {2, 4, 8}) {
    SmallPlan small = vgg(gpus);
    small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::reduction_to_one_device;
    const test::Ran ran = run_plan(small, "mirrored");
    for (const std::string label : {"copies to the summing GPU", "copies of the sum"}) {
      double longest = 0;
      for (const TaskId id : tasks_labelled(ran.plan.graph, TaskKind::copy, label)) {
        if (ran.plan.graph.tasks()[id].traffic.count == kFirstLinear)
          longest = std::max(longest, seconds_of(ran, id));
      }
      INFO(gpus << " GPUs, " << label);
      CHECK(longest == Approx((gpus - 1) * static_cast<double>(kFirstLinear) / kPeerRate).epsilon(0.01));
    }
  }
}

TEST_CASE("the hierarchical copy is one exchange of all gradients on two GPUs") {
  SmallPlan small = vgg(2);
  small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::hierarchical_copy;
  const test::Ran ran = run_plan(small, "mirrored");
  const double copy = static_cast<double>(kVggGradients) / kPeerRate;
  const Time copied = memory_kernel_time({2 * kVggGradients}, small.spec.node.gpu, small.device.kernel);
  const Time added = memory_kernel_time({3 * kVggGradients}, small.spec.node.gpu, small.device.kernel);
  // GPU 1 to 0, an addition of one tensor (a copy) and of two, GPU 0 to 1.
  CHECK(ran.share(Account::exposed_communication) ==
        Approx(2 * copy + to_seconds(copied + added)).epsilon(0.01));
}

}  // namespace mirrored_physics
