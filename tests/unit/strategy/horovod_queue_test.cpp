// How gradients reach Horovod's queue: who hands them over, at what cost, behind which kernel.
#include "sim/strategy/horovod/horovod_thread.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace horovod_queue_test {

using namespace foretrain;
using test::SmallPlan;

namespace {

/// A process with a queue, and two kernels launched as if they made the gradients of parameters 0 and 1.
struct Rig {
  SmallPlan small;
  Placement placement = place_packed(2, 1);
  Cluster cluster;
  HorovodSettings settings;
  TaskGraph graph;
  PlanRequest request;
  Process process;
  std::vector<TaskId> kernels;

  explicit Rig(Framework framework = {})
      : small(with(framework)),
        cluster(Cluster::build(small.spec, 2)),
        request{small.workload, cluster, placement, small.knobs, small.device},
        process(request, graph) {}

  static SmallPlan with(Framework framework) {
    SmallPlan small;
    small.workload.framework = framework;
    return small;
  }

  std::vector<Enqueued> backward() {
    GradientQueue queue(process, settings);
    for (const std::uint32_t parameter : {0u, 1u}) {
      kernels.push_back(process.launch(process.autograd_thread(), microseconds(5), microseconds(50),
                                       Account::compute, kNone));
      queue.on_gradient(parameter);
    }
    queue.end_backward();
    return queue.take();
  }

  Time duration(TaskId task) const { return graph.tasks()[task].duration; }
};

Framework tensorflow(Execution execution) {
  Framework framework = usual_framework(FrameworkKind::tensorflow);
  framework.execution = execution;
  return framework;
}

}  // namespace

TEST_CASE("a Python hook of 15 us hands over each gradient behind its own kernel") {
  Rig rig;
  const auto enqueued = rig.backward();
  REQUIRE(enqueued.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(enqueued[i].parameter == i);
    CHECK(enqueued[i].ready == rig.kernels[i]);
    CHECK(rig.duration(enqueued[i].call) == microseconds(15));
    CHECK(rig.graph.tasks()[enqueued[i].call].queue == rig.process.autograd_thread().queue);
  }
}

TEST_CASE("in TensorFlow's graph it is one more operator: 3 + 4 + 1 us") {
  Rig rig(tensorflow(Execution::graph));
  const auto enqueued = rig.backward();
  REQUIRE(enqueued.size() == 2);
  CHECK(rig.duration(enqueued[0].call) == microseconds(8));
  CHECK(enqueued[0].ready == rig.kernels[0]);
}

TEST_CASE("behind an eager tape all gradients come together after backward's last kernel") {
  Rig rig(tensorflow(Execution::eager));
  const auto enqueued = rig.backward();
  REQUIRE(enqueued.size() == 2);
  for (const Enqueued& gradient : enqueued) {
    CHECK(gradient.ready == rig.kernels[1]);
    CHECK(rig.graph.tasks()[gradient.call].queue == rig.process.main_thread().queue);
  }
}

TEST_CASE("a compressed gradient is ready when its cast has run") {
  Rig rig;
  rig.settings.compresses = true;
  const auto enqueued = rig.backward();
  REQUIRE(enqueued.size() == 2);
  CHECK(enqueued[0].ready > rig.kernels[0]);
  CHECK(rig.graph.label_text(rig.graph.tasks()[enqueued[0].ready].label) == "compress gradient");
}

TEST_CASE("a pass that only counts down costs 4 us a gradient in PyTorch, nothing in a graph") {
  Rig pytorch, graph(tensorflow(Execution::graph));
  for (Rig* rig : {&pytorch, &graph}) {
    GradientQueue queue(rig->process, rig->settings);
    queue.count_down();
    CHECK(queue.take().empty());
  }
  CHECK(pytorch.duration(pytorch.graph.last_on(pytorch.process.autograd_thread().queue)) == microseconds(4));
  CHECK(graph.graph.last_on(graph.process.autograd_thread().queue) == kNone);
}

TEST_CASE("what was taken is not handed out again") {
  Rig rig;
  GradientQueue queue(rig.process, rig.settings);
  queue.on_gradient(0);
  CHECK(queue.take().size() == 1);
  CHECK(queue.take().empty());
}

}  // namespace horovod_queue_test
