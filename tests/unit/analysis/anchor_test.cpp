// Scaling the model to a measured step.
#include "sim/analysis/step/anchor.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace anchor_test {

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

TEST_CASE("an anchor on several GPUs is met there") {
  CHECK(fit(test::resnet_scenario(), 8, 1.3).step_s == Approx(1).epsilon(2e-6));
}

TEST_CASE("a compute-bound step scales kernels, a host-bound one the host") {
  Scenario heavy = test::resnet_scenario();
  heavy.workload.batch_per_gpu = 128;
  CHECK(fit(heavy, 1, 1.5).anchored.scaled == ScaledPart::kernels);
  CHECK(fit(heavy, 1, 1.5).anchored.factor ==
        Approx(1.5).epsilon(0.05));  // the copy of the batch to the GPU is not scaled
  CHECK(fit(test::mnist_scenario(), 1, 1.5).anchored.scaled == ScaledPart::host);
}

TEST_CASE("a step that waits for its input scales the input, and says that this tells nothing of the GPU") {
  Scenario scenario = test::mnist_scenario();
  scenario.workload.data.loader = LoaderKind::torch;
  scenario.workload.data.decode = milliseconds(20);  // 32 x 20 ms over 4 workers: 160 ms
  const Anchored anchored = fit(scenario, 1, 1.5).anchored;
  CHECK(anchored.scaled == ScaledPart::input);
  CHECK(anchored.factor == Approx(1.5).epsilon(0.02));
  CHECK_THAT(anchored.why, ContainsSubstring("input 100 %"));
  REQUIRE(warnings_about(anchored).size() == 1);
  CHECK_THAT(warnings_about(anchored)[0], ContainsSubstring("waits for its input"));
}

TEST_CASE("measured.scales decides over the profile") {
  const Scenario scenario = test::resnet_scenario();
  const StepSimulator simulator(scenario, 1);
  const DeviceModel device = default_device_model(scenario);
  const double wanted = 4 * simulator.simulate(1, device).step_s;
  const Anchored anchored = fit_anchor(simulator, device, {1, wanted, AnchorSide::host});
  CHECK(anchored.scaled == ScaledPart::host);
  CHECK(anchored.device.kernel.time_scale == device.kernel.time_scale);
  CHECK(simulator.simulate(1, anchored.device).step_s == Approx(wanted).epsilon(2e-6));
  CHECK_THAT(anchored.why, ContainsSubstring("asked for by measured.scales"));
  // A shorter step than the kernels alone take cannot be reached by the host.
  REQUIRE_THROWS_WITH(fit_anchor(simulator, device, {1, wanted / 1e4, AnchorSide::host}),
                      ContainsSubstring("leave measured.scales out"));
}

TEST_CASE("the implied efficiency is the time of the products at peak over the measured step") {
  Scenario scenario = test::resnet_scenario();
  scenario.workload.batch_per_gpu = 64;
  const ExpandedModel& model = *scenario.workload.model;
  double flops = 0;
  for (const Operator& op : model.forward) flops += op.product_count > 0 ? op.flops.at(64) : 0;
  for (const BackwardStep& step : model.backward)
    flops += step.op.product_count > 0 ? step.op.flops.at(64) : 0;
  const StepSimulator simulator(scenario, 1);
  const DeviceModel device = default_device_model(scenario);
  const double measured = 2 * simulator.simulate(1, device).step_s;
  const double peak = scenario.cluster.node.gpu.fp32.per_second;  // a V100: no TF32
  CHECK(fit_anchor(simulator, device, {1, measured}).efficiency ==
        Approx(flops / peak / measured).epsilon(1e-6));
}

TEST_CASE("doubts are about factors beyond three and more than the peak") {
  Anchored anchored;
  anchored.scaled = ScaledPart::kernels, anchored.efficiency = 0.4;
  CHECK(warnings_about(anchored).empty());
  anchored.factor = 3.5;
  REQUIRE(warnings_about(anchored).size() == 1);
  CHECK_THAT(warnings_about(anchored)[0], ContainsSubstring("scales kernels by 3.50"));
  anchored.factor = 0.9, anchored.efficiency = 1.2;
  REQUIRE(warnings_about(anchored).size() == 1);
  CHECK_THAT(warnings_about(anchored)[0], ContainsSubstring("120 % of the GPU's peak"));
}

TEST_CASE("a measurement that says what the model says changes nothing") {
  CHECK(fit(test::resnet_scenario(), 1, 1).anchored.factor == Approx(1).epsilon(1e-5));
}

TEST_CASE("a step fifty times shorter than predicted cannot be reached, and the message says what to check") {
  Scenario scenario = test::mnist_scenario();
  scenario.workload.data.decode = milliseconds(20);  // 32 x 20 ms over 4 workers: 160 ms
  const StepSimulator simulator(scenario, 1);
  REQUIRE_THROWS_AS(fit_anchor(simulator, default_device_model(scenario), {1, 0.0005}), InputError);
  try {
    fit_anchor(simulator, default_device_model(scenario), {1, 0.0005});
  } catch (const InputError& error) {
    CHECK_THAT(
        error.what(),
        ContainsSubstring("the measured step of 500 us on 1 GPU cannot be reached: the model says 160 ms"));
    CHECK_THAT(error.what(), ContainsSubstring("input pipeline"));
  }
}

}  // namespace anchor_test
