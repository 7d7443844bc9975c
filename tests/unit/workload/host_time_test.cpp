// Host time: the table's sums, scaling with the CPU, and the published order of magnitude for ResNet-50.
#include "sim/workload/device/host_time.hpp"

#include "sim/workload/tape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

using namespace foretrain;

namespace {

double forward_ms(const Model& model, double slowdown) {
  Host host;
  host.slowdown = slowdown;
  Time sum{};
  for (const Operator& op : expand(model).model.forward) sum += host_time(op, host, {}, Precision::fp32);
  return to_seconds(sum) * 1e3;
}

Operator call(HostCall which, int kernels, bool backward = false) {
  Operator op = make_operator(OperatorClass::conv, which, {}, {}, kernels);
  op.backward = backward;
  return op;
}

}  // namespace

TEST_CASE("a convolution costs its call, its library and its launch") {
  // 4.55 measured + 10 library + 2.5 launch.
  CHECK(host_time(call(HostCall::conv2d, 1), {}, {}, Precision::fp32) == microseconds(17.05));
  // Backward: 5.7 + 2 * 10 + 2 launches.
  CHECK(host_time(call(HostCall::conv2d, 2, true), {}, {}, Precision::fp32) == microseconds(30.7));
}

TEST_CASE("every call costs something in both directions") {
  for (int i = 0; i <= static_cast<int>(HostCall::copy); ++i) {
    for (const bool backward : {false, true})
      CHECK(host_time(call(static_cast<HostCall>(i), 0, backward), {}, {}, Precision::fp32) > Time{});
  }
}

TEST_CASE("a slower CPU and the anchor multiply") {
  Host slow;
  slow.slowdown = 2;
  HostCalibration anchored;
  anchored.time_scale = 1.5;
  CHECK(host_time(call(HostCall::conv2d, 1), slow, {}, Precision::fp32) == microseconds(34.1));
  CHECK(on_host(microseconds(10), slow, anchored) == microseconds(30));
}

TEST_CASE("autocast adds to the calls it casts for") {
  Operator op = call(HostCall::conv2d, 1);
  CHECK(host_time(op, {}, {}, Precision::amp_fp16) == microseconds(17.05 + 1.5));
  op.half_capable = false;
  CHECK(host_time(op, {}, {}, Precision::bf16) == microseconds(17.05));
}

TEST_CASE("ResNet-50's forward costs the host 2.6 ms on the reference and 5.7 ms on an older Xeon") {
  CHECK(forward_ms(test::resnet50(), 1) == Approx(2.6).epsilon(0.25));
  CHECK(forward_ms(test::resnet50(), 2.2) == Approx(5.7).epsilon(0.25));
}
