// Host time: the table's sums in each way of running, scaling with the CPU, and the published latencies of
// ResNet-50.
#include "sim/workload/device/host_time.hpp"

#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace host_time_test {

using namespace foretrain;

namespace {

Framework running(Execution execution, FrameworkKind kind = FrameworkKind::pytorch) {
  Framework framework = usual_framework(kind);
  framework.execution = execution;
  return framework;
}

double forward_ms(const Model& model, double slowdown, const Framework& framework = {}) {
  Host host;
  host.slowdown = slowdown;
  Time sum{};
  for (const Operator& op : expand(model).model.forward)
    sum += host_time(op, host, {}, Precision::fp32, framework);
  return to_seconds(sum) * 1e3;
}

Operator call(HostCall which, int kernels, bool backward = false) {
  Operator op = make_operator(OperatorClass::conv, which, {}, {}, kernels);
  op.backward = backward;
  return op;
}

double us(const Operator& op, const Framework& framework = {}, Precision precision = Precision::fp32) {
  return to_seconds(host_time(op, {}, {}, precision, framework)) * 1e6;
}

}  // namespace

TEST_CASE("a convolution costs its call and its library inside a network, and its launch") {
  // 4.55 measured alone + 10 library, 1.8 times that in a network, + 2.5 launch.
  CHECK(us(call(HostCall::conv2d, 1)) == Approx(1.8 * (4.55 + 10) + 2.5));
  // Backward: 5.7 + 2 * 10 + 2 launches.
  CHECK(us(call(HostCall::conv2d, 2, true)) == Approx(1.8 * (5.7 + 20) + 2 * 2.5));
}

TEST_CASE("every call costs something in both directions, however it is run") {
  for (int i = 0; i <= static_cast<int>(HostCall::recurrent); ++i) {
    for (const bool backward : {false, true}) {
      CHECK(us(call(static_cast<HostCall>(i), 1, backward)) > 0);
      CHECK(us(call(static_cast<HostCall>(i), 1, backward), running(Execution::compiled)) > 0);
      CHECK(us(call(static_cast<HostCall>(i), 1, backward), usual_framework(FrameworkKind::tensorflow)) > 0);
      CHECK(us(call(static_cast<HostCall>(i), 1, backward), running(Execution::cuda_graphs)) == 0);
    }
  }
}

TEST_CASE("a graph executor costs less than Python per operator, and TensorFlow's eager mode more") {
  const Operator relu = call(HostCall::activation, 1);
  CHECK(us(relu, usual_framework(FrameworkKind::tensorflow)) ==
        Approx(3 + 2.5 + 0.4 * 1));  // node, launch, library
  CHECK(us(relu) == Approx(1.8 * 2.9 + 2.5));
  CHECK(us(relu, running(Execution::eager, FrameworkKind::tensorflow)) ==
        Approx(1.8 * (2.5 * 1.9 + 1) + 2.5));
}

TEST_CASE("compiled code keeps the library calls and replaces the rest by a wrapper around each launch") {
  Operator product = call(HostCall::linear, 1);
  product.with({});
  CHECK(us(product, running(Execution::compiled)) == Approx(1.8 * 5 + 4 + 2.5));
  CHECK(us(call(HostCall::activation, 1), running(Execution::compiled)) == Approx(4 + 2.5));
  CHECK(us(product, running(Execution::compiled, FrameworkKind::tensorflow)) == Approx(0.4 * 5 + 1 + 2.5));
}

TEST_CASE("an operator that a script issues in a loop costs its calls so many times") {
  Operator steps = call(HostCall::activation, 5);
  steps.calls = 5;
  CHECK(us(steps) == Approx(5 * us(call(HostCall::activation, 1))));
}

TEST_CASE("a slower CPU and the anchor multiply") {
  Host slow;
  slow.slowdown = 2;
  HostCalibration anchored;
  anchored.time_scale = 1.5;
  const Operator conv = call(HostCall::conv2d, 1);
  CHECK(to_seconds(host_time(conv, slow, {}, Precision::fp32)) ==
        Approx(2 * to_seconds(host_time(conv, {}, {}, Precision::fp32))));
  CHECK(on_host(microseconds(10), slow, anchored) == microseconds(30));
}

TEST_CASE("autocast adds to the calls it casts for") {
  Operator op = call(HostCall::conv2d, 1);
  CHECK(us(op, {}, Precision::amp_fp16) == Approx(us(op) + 1.8 * 1.5));
  op.half_capable = false;
  CHECK(us(op, {}, Precision::bf16) == Approx(us(op)));
}

// NVIDIA's DeepLearningExamples, ResNet-50 on one V100 of a DGX-1 (Xeon E5-2698 v4), latency of inference
// that does not change with batches of 1 to 4, so it is the host's. PyTorch 1.8 in fp32: 10.2 to 10.5 ms, of
// which the script's own Python takes about one; TensorFlow 1.15 in 16 bit, whose graph fuses ReLUs: 4.3 ms.
TEST_CASE("ResNet-50's forward calls cost a DGX-1's host what its published latency says") {
  CHECK(forward_ms(test::resnet50(), 2.4) == Approx(9.4).epsilon(0.10));
  CHECK(forward_ms(test::resnet50(), 2.4, usual_framework(FrameworkKind::tensorflow)) ==
        Approx(4.3).epsilon(0.15));
}

}  // namespace host_time_test
