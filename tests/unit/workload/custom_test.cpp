// Layers of one's own: work as stated, time by the roofline, gradients of what they train.
#include "sim/workload/device/kernel_time.hpp"
#include "tests/support/expanded_layers.hpp"

namespace custom_test {

using namespace foretrain;
using test::expanded;
using test::some_gpu;

namespace {

/// Of one sample.
struct CustomWork {
  double forward_flops = 0, backward_flops = 0;
  std::int64_t forward_bytes = 0, backward_bytes = 0, saved_bytes = 0;
  std::int64_t kernels = 1;
};

Layer custom(std::int64_t parameters, const CustomWork& work) {
  Layer layer = test::plain("custom");
  test::set(layer, "parameters", parameters), test::set(layer, "kernels", work.kernels);
  test::set(layer, "forward_flops", Flops{work.forward_flops});
  test::set(layer, "backward_flops", Flops{work.backward_flops});
  test::set(layer, "forward_bytes", Bytes{work.forward_bytes});
  test::set(layer, "backward_bytes", Bytes{work.backward_bytes});
  test::set(layer, "saved_bytes", Bytes{work.saved_bytes});
  return layer;
}

double forward_ms(const CustomWork& work, std::int64_t batch) {
  const Gpu gpu = some_gpu();
  const KernelCalibration calibration = default_kernel_calibration(gpu);
  return to_seconds(kernel_time(expanded({16}, {custom(1, work)}).forward[0], {gpu, calibration}, batch)) *
         1e3;
}

}  // namespace

TEST_CASE("a custom layer takes the longer of its FLOPs and its bytes, and grows with the batch") {
  CustomWork heavy{};
  heavy.forward_flops = 100e9, heavy.forward_bytes = 1000;
  CHECK(forward_ms(heavy, 1) == Approx(10).epsilon(0.02));
  CHECK(forward_ms(heavy, 8) == Approx(80).epsilon(0.02));
  CustomWork wide{};
  wide.forward_flops = 1e6, wide.forward_bytes = 800'000'000;
  CHECK(forward_ms(wide, 1) == Approx(1).epsilon(0.05));  // 0.8 of 1000 GB/s
}

TEST_CASE("a custom layer states the work of each pass, what it trains and what it keeps") {
  const ExpandedModel model =
      expanded({16}, {custom(1000, {1e9, 2e9, 1'000'000, 3'000'000, 500'000, 4}), custom(0, {})});
  CHECK(model.parameter_elements() == 1000);
  CHECK(model.forward[0].flops.at(2) == 2e9);
  CHECK(model.forward[0].kernels == 4);
  const BackwardStep& last = model.backward.back();
  CHECK(last.op.flops.at(1) == 2e9);
  CHECK(last.op.bytes.at(1) == 3e6);
  CHECK(last.ready == std::vector<std::uint32_t>{0});
  CHECK(model.layer_traces[0].saved_bytes.at(2) == 1e6);
}

TEST_CASE("a custom layer cannot work on token ids") {
  const Model model{"tokens", "", {8}, true, {custom(1, {}), test::plain("loss")}};
  const ExpansionResult result = expand(model);
  REQUIRE_FALSE(result.faults.empty());
  CHECK_THAT(result.faults[0].message, ContainsSubstring("custom cannot work on token ids"));
}

}  // namespace custom_test
