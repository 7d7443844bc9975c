// The whole prediction of small scenarios.
#include "sim/analysis/predict.hpp"

#include <numeric>

#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace predict_test {

using namespace foretrain;

TEST_CASE("speedup and efficiency refer to one GPU, also when it is not listed") {
  const Prediction p = predict(test::resnet_scenario({4, 8}));
  const Prediction one = predict(test::resnet_scenario({1}));
  REQUIRE(p.points.size() == 2);
  CHECK(p.points[1].speedup == Approx(p.points[1].samples_per_s / one.points[0].samples_per_s));
  CHECK(p.points[1].efficiency == Approx(p.points[1].speedup / 8));
  CHECK(one.points[0].speedup == 1);
}

TEST_CASE("throughput is the global batch over the step, and the breakdown sums to the step") {
  for (const PredictionPoint& p : predict(test::resnet_scenario()).points) {
    CHECK(p.global_batch == 32 * p.gpus);
    CHECK(p.samples_per_s == Approx(static_cast<double>(p.global_batch) / p.step_s));
    CHECK(std::accumulate(p.breakdown.begin(), p.breakdown.end(), 0.0) == Approx(p.step_s).epsilon(1e-9));
    CHECK(p.nodes == (p.gpus + 3) / 4);
  }
}

TEST_CASE("strong scaling divides the global batch") {
  Scenario scenario = test::resnet_scenario({1, 4, 8});
  scenario.global_batch = 100;
  const Prediction p = predict(scenario);
  CHECK(p.strong_scaling);
  CHECK(p.points[0].batch_per_gpu == 100);
  CHECK(p.points[1].batch_per_gpu == 25);
  CHECK(p.points[2].batch_per_gpu == 13);     // 12.5 rounded up, on every rank
  CHECK(p.points[2].global_batch == 8 * 13);  // which is what a step trains
  CHECK(p.points[2].samples_per_s == Approx(8 * 13 / p.points[2].step_s));
}

TEST_CASE(
    "a global batch that does not divide counts the same in rates, epochs, totals and the fastest number") {
  Scenario scenario = test::resnet_scenario({1, 2, 3, 4, 5, 6, 7, 8});
  scenario.global_batch = 9, scenario.workload.data.samples = 90'000, scenario.startup = Time{};
  scenario.lists_gpus = true;
  const Prediction p = predict(scenario);
  for (const PredictionPoint& q : p.points) {
    INFO(q.gpus << " GPUs");
    // Steps are so many that a partial one hardly matters.
    CHECK(p.points[0].total_s / q.total_s == Approx(q.speedup).epsilon(0.005));
    CHECK(q.samples_per_s * q.total_s == Approx(90'000).epsilon(0.005));
  }
  const auto fastest = std::ranges::min_element(p.points, {}, &PredictionPoint::total_s);
  CHECK(p.crossover.fastest_gpus == fastest->gpus);
}

TEST_CASE("an answer names numbers of GPUs that train the global batch asked for, or that are listed") {
  Scenario scenario = test::resnet_scenario({1, 2, 4, 8});
  scenario.global_batch = 9;
  CHECK(predict(scenario).crossover.fastest_gpus == 3);
  scenario.lists_gpus = true;
  CHECK(predict(scenario).crossover.fastest_gpus == 8);
}

TEST_CASE(
    "with a global batch an epoch begins with this number's share of it, whatever other numbers are listed") {
  Scenario scenario = test::resnet_scenario({1, 4});
  scenario.global_batch = 400;
  DataSet& data = scenario.workload.data;
  data.samples = 40'000, data.loader = LoaderKind::torch, data.workers_per_gpu = 2,
  data.decode = milliseconds(5);
  const PredictionPoint listed = predict(scenario).points.back();
  scenario.gpus = {4}, scenario.workload.batch_per_gpu = 100;
  CHECK(predict(scenario).points.back().epoch_s == listed.epoch_s);
  // 100 images by one worker.
  CHECK(listed.overhead.loader_restart_s == Approx(100 * 5e-3).epsilon(0.2));
}

TEST_CASE("an anchor on more GPUs than the global batch fills is still simulated") {
  Scenario scenario = test::mnist_scenario({1});
  scenario.global_batch = 2;
  scenario.anchor = Anchor{8, 0.01};
  const Prediction p = predict(scenario);
  CHECK(p.points.size() == 1);
  CHECK(p.decisions.list().front().subject == "anchor");
}

TEST_CASE("an anchored prediction repeats the measurement") {
  Scenario scenario = test::resnet_scenario({1});
  scenario.anchor = Anchor{1, 0.1};
  CHECK(predict(scenario).points[0].step_s == Approx(0.1).epsilon(2e-6));
}

TEST_CASE("an anchor that scales more than threefold is warned about") {
  Scenario scenario = test::resnet_scenario({1});
  scenario.anchor = Anchor{1, 0.5};
  const Prediction p = predict(scenario);
  REQUIRE_FALSE(p.warnings.empty());
  CHECK_THAT(p.warnings.front(),
             ContainsSubstring("check that the measured run did what this scenario says"));
}

TEST_CASE("more memory than the GPU has is warned about") {
  Scenario scenario = test::resnet_scenario({1});
  scenario.workload.batch_per_gpu = 4096;
  const Prediction p = predict(scenario);
  CHECK_FALSE(p.points[0].fits());
  CHECK_THAT(p.warnings.front(), ContainsSubstring("are needed per GPU"));
}

TEST_CASE("drop_last on too little data leaves no step, which is warned about") {
  Scenario scenario = test::mnist_scenario({1, 4});
  scenario.workload.data.samples = 100;
  scenario.workload.data.drop_last = true;
  const Prediction p = predict(scenario);
  CHECK(p.points[0].steps_per_epoch == 3);
  CHECK(p.points[1].steps_per_epoch == 0);  // 25 samples a rank, batch 32
  CHECK_THAT(p.warnings.front(), ContainsSubstring("drop_last leaves no full batch"));
}

TEST_CASE("progress runs from zero to one without going back") {
  std::vector<double> seen;
  predict(test::mnist_scenario(), [&seen](double done) { seen.push_back(done); });
  REQUIRE_FALSE(seen.empty());
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.front() > 0);
  CHECK(seen.back() == 1);
}

TEST_CASE("two predictions are equal") {
  const Prediction a = predict(test::resnet_scenario()), b = predict(test::resnet_scenario());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    CHECK(a.points[i].step_s == b.points[i].step_s);
    CHECK(a.points[i].breakdown == b.points[i].breakdown);
  }
  CHECK(a.decisions == b.decisions);
}

TEST_CASE("many micro-steps cost what further ones cost, without being simulated") {
  Scenario scenario = test::resnet_scenario({4});
  const DeviceModel device = default_device_model(scenario);
  const auto step = [&](int accumulation) {
    scenario.knobs.accumulation = accumulation;
    return StepSimulator(scenario, 4).simulate(4, device);
  };
  const double micro = step(8).step_s - step(7).step_s;
  CHECK(step(1000).step_s == Approx(step(8).step_s + 992 * micro).epsilon(1e-9));
  const SimulatedStep many = step(1000);
  CHECK(std::accumulate(many.breakdown.begin(), many.breakdown.end(), 0.0) ==
        Approx(many.step_s).epsilon(1e-9));
}

TEST_CASE("a step of more than a day is refused with the time it would take") {
  Scenario scenario = test::mnist_scenario({1});
  scenario.workload.data.decode = seconds(1e5);
  CHECK_THROWS_AS(predict(scenario), InputError);
}

TEST_CASE("samples of any size are refused, not overflowed") {
  Scenario scenario = test::mnist_scenario({1});
  scenario.workload.data.sample_bytes = {900'000'000'000'000'000};
  scenario.workload.batch_per_gpu = 1'000'000;
  CHECK_THROWS_AS(predict(scenario), InputError);
}

TEST_CASE("the critical path is the derivative of the step by each side") {
  for (const Scenario& scenario : {test::resnet_scenario({1}), test::mnist_scenario({1})}) {
    const StepSimulator simulator(scenario, 1);
    const DeviceModel device = default_device_model(scenario);
    const SimulatedStep step = simulator.simulate(1, device);
    DeviceModel slower = device;
    constexpr double kSmall = 1e-4;  // small enough that no other path becomes critical
    slower.kernel.time_scale *= 1 + kSmall;
    const double by_kernels = (simulator.simulate(1, slower).step_s - step.step_s) / kSmall;
    const auto share = [&](Account account) { return step.critical[static_cast<std::size_t>(account)]; };
    const double kernels = share(Account::compute) + share(Account::optimizer) + share(Account::other);
    CHECK(by_kernels == Approx(kernels).epsilon(0.02).margin(1e-3 * step.step_s));
  }
}

TEST_CASE("an anchor narrows the interval of the run it was measured on, and of others") {
  Scenario scenario = test::resnet_scenario({1, 4});
  const Prediction free = predict(scenario);
  scenario.anchor = Anchor{1, free.points.front().step_s};  // measured just as predicted
  const Prediction anchored = predict(scenario);
  const auto width = [](const PredictionPoint& p) { return p.interval.high_s / p.interval.low_s; };
  for (std::size_t i = 0; i < 2; ++i) CHECK(width(anchored.points[i]) < width(free.points[i]));
  CHECK(width(anchored.points[0]) < width(anchored.points[1]));
}

TEST_CASE("the search of a strategy of one process ends at one node, and says why") {
  Scenario scenario = test::resnet_scenario({1, 4});  // two nodes of four GPUs
  scenario.strategy = "data_parallel";
  const Prediction p = predict(scenario);
  CHECK(p.crossover.fastest_gpus <= 4);
  CHECK(p.crossover.no_gain_from.value_or(0) <= 5);
  CHECK_THAT(p.crossover.cause, ContainsSubstring("5 GPUs cannot be used: data_parallel is one process"));
}

TEST_CASE("idle GPUs and missing samplers stand in the cause of the crossover") {
  Scenario scenario = test::resnet_scenario({1, 4});
  scenario.launch.with = Launcher::python;
  const Prediction idle = predict(scenario);
  CHECK(idle.crossover.fastest_gpus == 1);
  CHECK(idle.points[1].speedup == 1);
  CHECK(idle.points[1].efficiency == 0.25);
  CHECK_THAT(idle.crossover.cause, Catch::Matchers::StartsWith("GPUs without a process are idle; "));
  scenario.launch = {};
  scenario.sampler = Sampler::none;
  const Prediction repeated = predict(scenario);
  CHECK(first_of_ranges(repeated.crossover.slower_than_one_gpu) == 2);
  CHECK_THAT(repeated.crossover.cause, Catch::Matchers::StartsWith("processes train on the same samples; "));
}

TEST_CASE(
    "a training that fits on no listed number of GPUs cannot run: no intervals, no answers, one warning") {
  Scenario scenario = test::mnist_scenario();
  scenario.gpus = {1, 2, 4};
  scenario.cluster.node.gpu.memory = scenario.cluster.node.gpu.usable_memory = {100'000'000};
  const Prediction p = predict(scenario);
  CHECK(p.cannot_run);
  CHECK(p.points.size() == 3);
  CHECK(p.points[2].interval.high_s == 0);
  CHECK(p.crossover.causes.empty());
  REQUIRE(p.warnings.size() == 1);
  CHECK_THAT(p.warnings.front(), Catch::Matchers::StartsWith("1 to 4 GPUs: about "));
  CHECK_FALSE(predict(test::mnist_scenario()).cannot_run);
}

TEST_CASE("a baseline that does not fit is said to be one") {
  Scenario scenario = test::mnist_scenario();
  scenario.global_batch = 65536;
  scenario.gpus = {1, 4};
  const auto needs = [](const PredictionPoint& p) { return p.memory.total().count; };
  const Prediction fits = predict(scenario);
  REQUIRE(needs(fits.points[1]) < needs(fits.points[0]));
  scenario.cluster.node.gpu.memory =
      scenario.cluster.node.gpu.usable_memory = {(needs(fits.points[0]) + needs(fits.points[1])) / 2};
  const Prediction p = predict(scenario);
  CHECK_FALSE(p.cannot_run);
  CHECK(std::ranges::count(
            p.warnings,
            "speedups and efficiencies are over one GPU, on which this does not fit into memory") == 1);
}

}  // namespace predict_test
