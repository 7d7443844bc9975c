// The inverse questions, against trying every value.
#include "sim/analysis/search/break_even.hpp"

#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/variation.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace break_even_test {

using namespace foretrain;

namespace {

BreakEven asked(const Scenario& scenario, int gpus) {
  return find_break_even(scenario, default_device_model(scenario), gpus);
}

double speedup(const Scenario& scenario, int gpus) {
  PointPredictor points(scenario, gpus);
  return points.throughput(gpus).samples_per_s / points.throughput(1).samples_per_s;
}

/// resnet18 over a network so slow that a batch of 32 is not worth a second node.
Scenario slow_network() {
  Scenario scenario = test::resnet_scenario({1, 8});
  scenario.cluster.fabric.link.name = "wire", scenario.cluster.fabric.link.bandwidth.per_second = 3e7;
  scenario.cluster.fabric.uplink = scenario.cluster.fabric.link;
  return scenario;
}

}  // namespace

TEST_CASE("the first that holds is found by asking few, and none is found when the last does not hold") {
  for (const std::int64_t first : {1, 2, 7, 100, 1000}) {
    int asked = 0;
    CHECK(first_holding(1, 1000, [&](std::int64_t n) { return ++asked, n >= first; }) == first);
    CHECK(asked <= 20);
  }
  CHECK_FALSE(first_holding(1, 1000, [](std::int64_t) { return false; }));
  CHECK(first_holding(5, 5, [](std::int64_t) { return true; }) == 5);
}

TEST_CASE("the smallest batch is the first of all batches that beats one GPU") {
  const Scenario scenario = slow_network();
  const BreakEven b = asked(scenario, 8);
  CHECK(b.speedup == Approx(speedup(scenario, 8)));
  CHECK(b.speedup < 1);
  CHECK_FALSE(b.batch.beats_now);
  REQUIRE(b.batch.at);
  const auto at = static_cast<std::int64_t>(*b.batch.at);
  CHECK(at > 32);
  for (std::int64_t batch = 1; batch <= at; batch = batch * 5 / 4 + 1) {
    INFO(batch);
    CHECK((speedup(with_batch(scenario, batch), 8) > 1) == (batch >= at));
  }
  CHECK(speedup(with_batch(scenario, at - 1), 8) <= 1);
  CHECK(speedup(with_batch(scenario, at), 8) > 1);
}

TEST_CASE("the link that bounds is named, and at the speed found N GPUs beat one") {
  const Scenario scenario = slow_network();
  const BreakEven b = asked(scenario, 8);
  CHECK(b.link == "the network (wire)");
  CHECK(b.link_bytes_per_s == 3e7);
  REQUIRE(b.bandwidth.at);
  CHECK(*b.bandwidth.at > 1);
  CHECK(speedup(with_link_speed(scenario, LinkKind::network, *b.bandwidth.at), 8) > 1);
  CHECK(speedup(with_link_speed(scenario, LinkKind::network, *b.bandwidth.at / 1.02), 8) <= 1);
}

TEST_CASE("N GPUs that beat one are asked how slow their link may become") {
  Scenario scenario = slow_network();
  scenario.cluster.fabric.link.bandwidth.per_second = 2e9;
  scenario.cluster.fabric.uplink = scenario.cluster.fabric.link;
  const BreakEven b = asked(scenario, 8);
  CHECK(b.speedup > 1);
  CHECK(b.bandwidth.beats_now);
  REQUIRE(b.bandwidth.at);
  CHECK(*b.bandwidth.at < 1);
  CHECK(speedup(with_link_speed(scenario, LinkKind::network, *b.bandwidth.at), 8) <= 1);
}

TEST_CASE("another number of GPUs is fastest from the speed found on") {
  const Scenario scenario = slow_network();
  const BreakEven b = asked(scenario, 8);
  REQUIRE(b.fastest.at);
  CHECK(b.fastest_now != b.fastest_then);
  CHECK(predict(scenario).crossover.fastest_gpus == b.fastest_now);
  CHECK(predict(with_link_speed(scenario, LinkKind::network, *b.fastest.at)).crossover.fastest_gpus ==
        b.fastest_then);
}

TEST_CASE("start-up decides how long an epoch must be") {
  Scenario scenario = test::resnet_scenario({1, 4});
  scenario.workload.data.samples = 100;
  const BreakEven b = asked(scenario, 4);
  CHECK(b.speedup > 1);
  REQUIRE(b.epoch_samples.at);
  const auto total = [&](double samples, int gpus) {
    Scenario varied = scenario;
    varied.workload.data.samples = static_cast<std::int64_t>(samples);
    varied.gpus = {gpus};
    return predict(varied).points.front().total_s;
  };
  CHECK(total(*b.epoch_samples.at, 4) < total(*b.epoch_samples.at, 1));
  CHECK(std::fmod(*b.epoch_samples.at, 128) == 0);  // whole steps of four GPUs
  if (*b.epoch_samples.at > 128)
    CHECK(total(*b.epoch_samples.at - 128, 4) >= total(*b.epoch_samples.at - 128, 1));
}

TEST_CASE("GPUs that train no faster never beat one, however long the epoch") {
  const BreakEven b = asked(slow_network(), 8);
  CHECK_FALSE(b.epoch_samples.at);
}

TEST_CASE("a network that is host-bound on one GPU gets a width at which more pay, or never") {
  const BreakEven b = asked(test::mnist_scenario({1, 8}), 8);
  CHECK(b.width.now == 1);
  CHECK(b.width.why_not.empty());
  if (b.width.at) CHECK(speedup(with_width(test::mnist_scenario({1, 8}), *b.width.at), 8) > 1);
}

TEST_CASE("numbers of GPUs that cannot be asked about are mistakes with a hint") {
  const Scenario scenario = test::resnet_scenario({1, 4});
  CHECK_THROWS_AS(check_break_even(scenario, 0), InputError);
  CHECK_THROWS_AS(check_break_even(scenario, 1), InputError);
  CHECK_THROWS_WITH(check_break_even(scenario, 17), ContainsSubstring("has 16 GPUs"));
  CHECK_NOTHROW(check_break_even(scenario, 16));
  Scenario single = scenario;
  single.strategy = "data_parallel";
  CHECK_THROWS_WITH(check_break_even(single, 5), ContainsSubstring("data_parallel is one process"));
}

TEST_CASE("predict asks where more GPUs stop paying when no number is given") {
  const Prediction p = predict(slow_network(), nullptr, {.break_even = 0});
  REQUIRE(p.break_even);
  CHECK(p.break_even->gpus == first_of_ranges(p.crossover.slower_than_one_gpu).value_or(0));
  CHECK_FALSE(predict(test::mnist_scenario()).break_even);
}

}  // namespace break_even_test
