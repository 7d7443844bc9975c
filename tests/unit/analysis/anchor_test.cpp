// Scaling the model to a measured step.
#include "sim/analysis/anchor.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

using namespace foretrain;

namespace {

struct Fitted {
  Anchored anchored;
  double step_s;
};

Fitted fit(const Scenario& scenario, int gpus, double times) {
  const StepSimulator simulator(scenario, 8);
  const DeviceModel device = default_device_model(scenario);
  const double wanted = simulator.simulate(gpus, device).step_s * times;
  const Anchored anchored = fit_anchor(simulator, device, {gpus, wanted});
  return {anchored, simulator.simulate(gpus, anchored.device).step_s / wanted};
}

}  // namespace

TEST_CASE("the anchored model predicts the measured step to a millionth") {
  for (const double times : {0.5, 0.9, 1.0, 1.1, 2.0, 7.0}) {
    INFO(times << " times as long as predicted");
    CHECK(fit(test::resnet_scenario(), 1, times).step_s == Approx(1).epsilon(2e-6));
    CHECK(fit(test::mnist_scenario(), 1, times).step_s == Approx(1).epsilon(2e-6));
  }
}

TEST_CASE("an anchor on several GPUs is met there") { CHECK(fit(test::resnet_scenario(), 8, 1.3).step_s == Approx(1).epsilon(2e-6)); }

TEST_CASE("a compute-bound step scales kernels, a host-bound one the host") {
  Scenario heavy = test::resnet_scenario();
  heavy.workload.batch_per_gpu = 128;
  CHECK(fit(heavy, 1, 1.5).anchored.scaled == "kernels");
  CHECK(fit(heavy, 1, 1.5).anchored.factor == Approx(1.5).epsilon(0.02));
  CHECK(fit(test::mnist_scenario(), 1, 1.5).anchored.scaled == "host");
}

TEST_CASE("a measurement that says what the model says changes nothing") {
  CHECK(fit(test::resnet_scenario(), 1, 1).anchored.factor == Approx(1).epsilon(1e-5));
}

TEST_CASE("a step shorter than the loader allows cannot be reached, and the message says what to check") {
  Scenario scenario = test::mnist_scenario();
  scenario.workload.data.decode = milliseconds(20);  // 32 x 20 ms over 4 workers: 160 ms
  const StepSimulator simulator(scenario, 1);
  REQUIRE_THROWS_AS(fit_anchor(simulator, default_device_model(scenario), {1, 0.01}), InputError);
  try {
    fit_anchor(simulator, default_device_model(scenario), {1, 0.01});
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("the measured step of 10 ms on 1 GPU cannot be reached: the model says 160 ms"));
    CHECK_THAT(error.what(), ContainsSubstring("input pipeline"));
  }
}
