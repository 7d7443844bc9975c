// Draws, responses and intervals: quantiles of known distributions, what an anchor cancels, what is hidden.
#include "sim/analysis/uncertainty/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace uncertainty_test {

using namespace foretrain;

namespace {

constexpr std::size_t kKernels = index_of(Uncertain::kernels), kHost = index_of(Uncertain::host),
                      kLinks = index_of(Uncertain::node_links);

/// A step that follows one input alone, with this spread.
StepResponse only(Uncertain input, double spread) {
  StepResponse response;
  response.up[index_of(input)] = kReach * spread, response.down[index_of(input)] = -kReach * spread;
  return response;
}

struct Simulated {
  Scenario scenario;
  StepSimulator simulator;
  DeviceModel device;
  SimulatedStep step;
  explicit Simulated(Scenario given, int gpus)
      : scenario(std::move(given)),
        simulator(scenario, gpus),
        device(default_device_model(scenario)),
        step(simulator.simulate(gpus, device)) {}
};

const Spreads& kSpreads = unit_moves();

}  // namespace

TEST_CASE("every input takes each of its equally likely values once") {
  const Draws draws(100);
  for (const Uncertain input : {Uncertain::kernels, Uncertain::startup}) {
    std::set<double> values;
    double sum = 0, squares = 0;
    for (int i = 0; i < draws.count(); ++i) {
      const double z = draws.normal(input, i);
      values.insert(z), sum += z, squares += z * z;
    }
    CHECK(values.size() == 100);
    CHECK(sum / 100 == Approx(0).margin(1e-9));
    CHECK(squares / 100 == Approx(1).epsilon(0.03));  // the tails of the outermost strata are cut
  }
}

TEST_CASE("inputs are drawn independently of each other") {
  const Draws draws(1000);
  double product = 0;
  for (int i = 0; i < 1000; ++i)
    product += draws.normal(Uncertain::kernels, i) * draws.normal(Uncertain::host, i);
  CHECK(std::abs(product / 1000) < 0.1);  // three standard deviations of a correlation of 1000 pairs
}

TEST_CASE("the same seed gives the same draws, another one others") {
  CHECK(Draws(50, 7).normal(Uncertain::host, 3) == Draws(50, 7).normal(Uncertain::host, 3));
  CHECK(Draws(50, 7).normal(Uncertain::host, 3) != Draws(50, 8).normal(Uncertain::host, 3));
}

TEST_CASE("an interval of the middle 90 percent of 0 to 100 is 5 to 95") {
  std::vector<double> values(101);
  std::iota(values.rbegin(), values.rend(), 0.0);
  const Interval interval = interval_of(values);
  CHECK(interval.low_s == Approx(5));
  CHECK(interval.high_s == Approx(95));
}

TEST_CASE("draws have the quantiles of the reach, of one input and of several") {
  StepResponse response = only(Uncertain::kernels, 0.1);
  const auto ends = [](const StepResponse& r) { return interval_of(step_factors(r, Draws(), 1)); };
  CHECK(ends(response).low_s == Approx(std::exp(-0.1644854)).epsilon(2e-3));
  CHECK(ends(response).high_s == Approx(std::exp(0.1644854)).epsilon(2e-3));
  response.up[kHost] = 0.4, response.down[kHost] = -0.02;
  const Reach reach = reach_of(response);
  CHECK(reach.above == Approx(std::hypot(0.1644854, 0.4)).epsilon(1e-4));
  CHECK(ends(response).low_s == Approx(std::exp(-reach.below)).epsilon(0.02));
  CHECK(ends(response).high_s == Approx(std::exp(reach.above)).epsilon(0.02));
}

TEST_CASE("an interval reaches as far as it says on either side") {
  const Interval interval = around(2, {0.3, 0.1});
  CHECK(interval.low_s == Approx(2 * std::exp(-0.1)));
  CHECK(interval.high_s == Approx(2 * std::exp(0.3)));
}

TEST_CASE("a part that is half of the step and twice as long makes the step 1.5 times as long") {
  const Simulated one(test::resnet_scenario({1}), 1);
  SimulatedStep half = one.step;
  half.critical = {};
  half.critical[static_cast<std::size_t>(Account::compute)] = 0.5 * half.step_s;
  Spreads spreads{};
  spreads[kKernels] = std::log(2.0) / kReach;
  const StepResponse response = linear_response(one.simulator, half, 1, spreads);
  CHECK(response.up[kKernels] == Approx(std::log(1.5)));
  CHECK(response.down[kKernels] == Approx(std::log(0.75)));
}

TEST_CASE("host work that hides behind kernels shows when it gets slower, and only a simulation tells") {
  Scenario scenario = test::resnet_scenario({1});
  scenario.workload.data.loader = LoaderKind::none;
  const Simulated one(scenario, 1);
  Spreads spreads{};
  spreads[kHost] = 3;  // up to 139 times as slow
  const StepResponse linear = linear_response(one.simulator, one.step, 1, spreads);
  const StepResponse simulated = simulated_response(one.simulator, one.device, one.step, 1, spreads);
  CHECK(simulated.up[kHost] > linear.up[kHost] + 0.1);
  CHECK(simulated.down[kHost] == linear.down[kHost]);
  CHECK(simulated.up[kHost] ==
        Approx(std::log(one.simulator.simulate(1, moved(one.device, Uncertain::host, kReach * 3)).step_s /
                        one.step.step_s)));
}

TEST_CASE("one GPU has no links, several on a node those inside it, several nodes the network") {
  const Simulated many(test::resnet_scenario({1, 4, 8}), 8);
  const SimulatedStep one = many.simulator.simulate(1, many.device),
                      four = many.simulator.simulate(4, many.device);
  const auto response = [&](const SimulatedStep& step, int gpus) {
    return simulated_response(many.simulator, many.device, step, gpus, kSpreads);
  };
  CHECK(response(one, 1).up[kLinks] == 0);
  CHECK(response(four, 4).up[kLinks] > 0);
  CHECK(response(four, 4).up[index_of(Uncertain::network)] == 0);
  CHECK(response(many.step, 8).up[kLinks] == 0);
  CHECK(response(many.step, 8).up[index_of(Uncertain::network)] > 0);
}

TEST_CASE("an anchor cancels what changes the measured job as much as this one") {
  const StepResponse there = only(Uncertain::host, 0.2);
  StepResponse here = only(Uncertain::host, 0.2);
  here.up[kLinks] = 0.1;
  const StepResponse relative = relative_to(there, here);
  CHECK(relative.up[kHost] == 0);
  CHECK(relative.up[kLinks] == 0.1);
}

TEST_CASE("what an input adds to the interval is what its features add") {
  const Simulated eight(test::resnet_scenario({8}), 8);
  const StepResponse moves = simulated_response(eight.simulator, eight.device, eight.step, 8, unit_moves());
  const SpreadCase known = ratio_case(eight.scenario, eight.simulator.placement(8), {1, 1, 0}, moves, 0.1);
  const StepResponse response = response_of(known);
  CHECK(reach_of(response).above == Approx(reach_of(known).above));
  CHECK(reach_of(response).below == Approx(reach_of(known).below));
  CHECK(response.up[index_of(Uncertain::network)] > 0);
  CHECK(response.up[index_of(Uncertain::scaling)] > 0);
  CHECK(response.up[kLinks] == 0);
}

TEST_CASE("slower links make a step longer by what it waits for them") {
  const Simulated eight(test::resnet_scenario({8}), 8);
  const double twice =
      eight.simulator.simulate(8, moved(eight.device, Uncertain::network, std::log(2.0))).step_s;
  const double exposed = eight.step.critical[static_cast<std::size_t>(Account::exposed_communication)];
  CHECK(twice >= eight.step.step_s + 0.99 * exposed);
}

TEST_CASE("every input says where its spread is from and what would narrow it") {
  for (std::size_t i = 0; i < kUncertainCount; ++i) {
    const UncertainInput& input = uncertain_inputs()[i];
    CHECK(index_of(input.which) == i);
    CHECK(!input.name.empty());
    CHECK(!input.origin.empty());
    CHECK(!describe(input.narrowed_by).empty());
  }
}

}  // namespace uncertainty_test
