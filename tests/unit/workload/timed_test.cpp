// Layers of stated length: how long their kernels run, what they train, and when their gradient is ready.
#include "sim/workload/device/kernel_time.hpp"
#include "tests/support/expanded_layers.hpp"

namespace timed_test {

using namespace foretrain;
using test::expanded;
using test::some_gpu;

namespace {

Layer timed(std::int64_t parameters, Time forward, Time backward) {
  Layer layer = test::plain("timed");
  test::set(layer, "parameters", parameters), test::set(layer, "forward", forward),
      test::set(layer, "backward", backward);
  return layer;
}

}  // namespace

TEST_CASE("a timed layer runs as long as it says, whatever the batch, precision and GPU") {
  const ExpandedModel model = expanded({1}, {timed(1000, milliseconds(10), milliseconds(20))});
  const Gpu gpu = some_gpu();
  KernelCalibration calibration = default_kernel_calibration(gpu);
  for (const std::int64_t batch : {1, 64, 100'000}) {
    for (const Precision precision : {Precision::fp32, Precision::amp_fp16}) {
      CHECK(kernel_time(model.forward[0], {gpu, calibration, precision}, batch) == milliseconds(10));
      CHECK(kernel_time(model.backward.back().op, {gpu, calibration, precision}, batch) == milliseconds(20));
    }
  }
  calibration.time_scale = 1.5;  // an anchor may say that everything takes longer
  CHECK(kernel_time(model.forward[0], {gpu, calibration}, 1) == milliseconds(15));
}

TEST_CASE("a timed layer of no length has kernels of no length") {
  const ExpandedModel model = expanded({1}, {timed(0, {}, {})});
  const Gpu gpu = some_gpu();
  CHECK(kernel_time(model.forward[0], {gpu, default_kernel_calibration(gpu)}, 64) == Time::zero());
}

TEST_CASE("a timed layer trains one tensor, whose gradient is ready after its backward") {
  const ExpandedModel model = expanded(
      {1}, {timed(1000, milliseconds(1), milliseconds(2)), timed(500, milliseconds(3), milliseconds(4))});
  REQUIRE(model.parameters.size() == 2);
  CHECK(model.parameter_elements() == 1500);
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{1, 0});
  CHECK(model.backward.back().op.stated == milliseconds(2));
  CHECK(model.backward.back().ready == std::vector<std::uint32_t>{0});
  CHECK(model.forward[0].flops.at(1) == 0);
}

TEST_CASE("a timed layer without parameters runs backward, too, even as the first") {
  const ExpandedModel model = expanded({1}, {timed(0, milliseconds(1), milliseconds(2))});
  CHECK(model.parameters.empty());
  CHECK(model.backward.back().op.stated == milliseconds(2));
}

TEST_CASE("a timed layer cannot work on token ids") {
  const Model model{"tokens", "", {8}, true, {timed(1, {}, {}), test::plain("loss")}};
  const ExpansionResult result = expand(model);
  REQUIRE_FALSE(result.faults.empty());
  CHECK_THAT(result.faults[0].message, ContainsSubstring("timed cannot work on token ids"));
}

}  // namespace timed_test
