// What a loss is made of, on scenarios with one obvious cause.
#include <algorithm>
#include <cmath>

#include "sim/analysis/search/crossover_of_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace crossover_cause_test {

using namespace foretrain;

namespace {

CrossoverCause cause_at(PointPredictor& points, int gpus) {
  return cause_of_loss(points, gpus, causes_of(points, gpus).in_turn);
}

CrossoverCause cause_on(const Scenario& scenario, int gpus) {
  PointPredictor points(scenario, gpus);
  return cause_at(points, gpus);
}

double share_of(const CrossoverCause& cause, std::string_view what) {
  double share = 0;
  for (const LossPart& part : cause.parts)
    if (part.what.find(what) != std::string::npos) share += part.share;
  return share;
}

}  // namespace

TEST_CASE("the parts of a loss sum to it, and their shares to one") {
  for (const std::optional<std::int64_t> global :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>(100)}) {
    Scenario scenario = test::resnet_scenario({1, 8});
    scenario.global_batch = global;
    for (const int gpus : {2, 5, 8}) {
      PointPredictor points(scenario, 8);
      const CrossoverCause cause = cause_at(points, gpus);
      double seconds = 0, shares = 0;
      for (const LossPart& part : cause.parts) seconds += part.seconds, shares += part.share;
      CHECK(seconds == Approx(cause.loss_s));
      CHECK(shares == Approx(1));
      // 100 samples on 8 GPUs are 8 x 13.
      const double share = std::ceil(100.0 / gpus) / 100;
      const double ideal = points.step(1).step_s * (global ? share : 1);
      CHECK(cause.loss_s == Approx(points.step(gpus).step_s - ideal));
    }
  }
}

TEST_CASE("a slow network is named with its link") {
  Scenario scenario = test::resnet_scenario({1, 8});
  scenario.cluster.fabric.link.name = "slow_wire", scenario.cluster.fabric.link.bandwidth.per_second = 1e8;
  scenario.cluster.fabric.uplink = scenario.cluster.fabric.link;
  const CrossoverCause cause = cause_on(scenario, 8);
  REQUIRE_FALSE(cause.parts.empty());
  CHECK(cause.parts.front().what == "communication over the network (slow_wire)");
  CHECK(cause.parts.front().share > 0.9);
}

TEST_CASE("inside a node the same messages are the node's links' fault") {
  const CrossoverCause cause = cause_on(test::resnet_scenario({1, 4}), 4);
  CHECK(share_of(cause, "over the network") == 0);
}

TEST_CASE("a batch shared until little is left for each is too small") {
  Scenario scenario = test::mnist_scenario({1, 8});
  scenario.global_batch = 8;
  CHECK(share_of(cause_on(scenario, 8), "do not shrink with the batch") > 0.3);
  scenario.global_batch.reset();
  CHECK(share_of(cause_on(scenario, 8), "do not shrink with the batch") == 0);
}

TEST_CASE("idle GPUs are a cause of their own") {
  Scenario scenario = test::resnet_scenario({1, 4});
  scenario.launch.with = Launcher::python;
  const CrossoverCause cause = cause_on(scenario, 4);
  REQUIRE(cause.parts.size() == 1);
  CHECK(cause.parts.front().what == "GPUs without a process");
  // One of four works: three quarters of the step would be saved.
  PointPredictor points(scenario, 4);
  CHECK(cause.loss_s == Approx(0.75 * points.step(1).step_s));
}

TEST_CASE("processes with the same samples are a cause of their own") {
  Scenario scenario = test::resnet_scenario({1, 2});
  scenario.sampler = Sampler::none;
  CHECK(share_of(cause_on(scenario, 2), "same samples") > 0.3);
}

TEST_CASE("stragglers have the share of their factor") {
  Scenario scenario = test::resnet_scenario({1, 4});
  PointPredictor points(scenario, 4);
  DeviceModel device = points.device();
  device.rank_spread = 0.5, device.busy_node = 0, device.busy_host = 0;
  points.set_device(device);
  CHECK(share_of(cause_at(points, 4), "the slowest GPU, which sets the pace") > 0.5);
}

TEST_CASE("the sentence says what the cause saves and what is left") {
  StepCauses causes;
  causes.gpus = 8, causes.step_s = 0.150, causes.kernels_s = 0.09;
  causes.alone = {{{Removable::links}, "communication over PCIe", "if PCIe took no time", 0.110, 0.040}};
  CHECK(cause_sentence(causes) ==
        "communication over PCIe cost most: if PCIe took no time a step on 8 GPUs would take 110 ms instead "
        "of 150 ms");
}

TEST_CASE("where nothing else costs a hundredth of the step its kernels are named") {
  StepCauses causes;
  causes.step_s = 0.1, causes.kernels_s = 0.099;
  causes.alone = {{{Removable::host}, "Python", "without Python", 0.0995, 0.0005}};
  CHECK(cause_sentence(causes) == "the GPU's own kernels are 99 % of a step on one GPU");
}

}  // namespace crossover_cause_test
