// Causes by removal, on steps with one obvious cause and against simulations without it.
#include "sim/analysis/causes/step_causes.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace step_causes_test {

using namespace foretrain;

namespace {

StepCauses causes_on(const Scenario& scenario, int gpus) {
  PointPredictor points(scenario, gpus);
  return causes_of(points, gpus);
}

}  // namespace

TEST_CASE("each cause is what the step is shorter by when it is simulated without it") {
  const Scenario scenario = test::resnet_scenario({1, 8});
  PointPredictor points(scenario, 8);
  const StepCauses causes = causes_of(points, 8);
  REQUIRE_FALSE(causes.alone.empty());
  for (const StepCause& cause : causes.alone) {
    REQUIRE(cause.what.size() == 1);
    const double step_s = points.simulator().step_s(8, without(points.device(), cause.what.front()));
    CHECK(cause.step_s == Approx(std::min(step_s, causes.step_s)));
    CHECK(cause.saves_s == Approx(causes.step_s - cause.step_s));
  }
}

TEST_CASE("the parts in turn and the kernels sum to the step") {
  for (const int gpus : {1, 4, 8}) {
    const StepCauses causes = causes_on(test::resnet_scenario({1, 8}), gpus);
    double sum = causes.kernels_s;
    for (const CausePart& part : causes.in_turn) sum += part.seconds;
    CHECK(sum == Approx(causes.step_s));
    CHECK(causes.kernels_s <= causes.step_s);
  }
}

TEST_CASE("a network that waits for its host is faster without Python and launches") {
  const StepCauses causes = causes_on(test::mnist_scenario({1, 4}), 1);
  REQUIRE(causes.largest() != nullptr);
  CHECK(causes.largest()->what == std::vector{Removable::host});
  CHECK(causes.largest()->name == "Python and kernel launches");
  CHECK(causes.largest()->saves_s > 0.3 * causes.step_s);
}

TEST_CASE("a slow network is the cause and is named with its link") {
  Scenario scenario = test::resnet_scenario({1, 8});
  scenario.cluster.fabric.link.name = "slow_wire", scenario.cluster.fabric.link.bandwidth.per_second = 1e8;
  scenario.cluster.fabric.uplink = scenario.cluster.fabric.link;
  const StepCauses causes = causes_on(scenario, 8);
  REQUIRE(causes.largest() != nullptr);
  CHECK(causes.largest()->name == "communication over the network (slow_wire)");
  CHECK(causes.largest()->without == "if the network (slow_wire) took no time");
  CHECK(causes.largest()->step_s < 0.2 * causes.step_s);
}

TEST_CASE("a slow loader is the cause, and without it the step is that of ready batches") {
  Scenario scenario = test::resnet_scenario({1, 4});
  scenario.workload.data.loader = LoaderKind::torch;
  scenario.workload.data.workers_per_gpu = 1, scenario.workload.data.decode = seconds(0.05);
  const StepCauses causes = causes_on(scenario, 4);
  REQUIRE(causes.largest() != nullptr);
  CHECK(causes.largest()->what == std::vector{Removable::input});
  Scenario ready = scenario;
  ready.workload.data.loader = LoaderKind::none;
  PointPredictor points(ready, 4);
  CHECK(causes.largest()->step_s == Approx(points.step(4).step_s).epsilon(0.02));
}

TEST_CASE("on one GPU nothing between GPUs is a cause") {
  const StepCauses causes = causes_on(test::resnet_scenario({1, 4}), 1);
  for (const Removable what :
       {Removable::links, Removable::stragglers, Removable::busy_node, Removable::sharing})
    CHECK(causes.saving_of(what) == 0);
}

TEST_CASE("what saves less than a hundredth of the step is no cause") {
  StepCauses causes;
  causes.step_s = 1;
  causes.alone = {{{Removable::other}, "copies", "without copies", 0.995, 0.005}};
  CHECK(causes.largest() == nullptr);
  causes.alone.front().saves_s = 0.02;
  CHECK(causes.largest() == &causes.alone.front());
}

}  // namespace step_causes_test
