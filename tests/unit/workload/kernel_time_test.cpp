// Kernel time: the roofline's two sides, which arithmetic runs where, and published training rates.
#include "sim/workload/device/kernel_time.hpp"

#include <limits>

#include "sim/workload/lowering/lowering.hpp"
#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace kernel_time_test {

using namespace foretrain;

namespace {

Gpu v100() {
  Gpu gpu;
  gpu.name = "V100-SXM2-16GB", gpu.architecture = Architecture::volta;
  gpu.fp32 = {15.67e12}, gpu.fp16 = {125.3e12};
  gpu.memory_bandwidth = {900e9}, gpu.memory_efficiency = 0.82, gpu.sm_count = 80;
  return gpu;
}

Gpu a100() {
  Gpu gpu;
  gpu.name = "A100-SXM4-80GB", gpu.architecture = Architecture::ampere;
  gpu.fp32 = {19.49e12}, gpu.tf32 = {156e12}, gpu.fp16 = gpu.bf16 = {312e12};
  gpu.memory_bandwidth = {2039e9}, gpu.memory_efficiency = 0.85, gpu.sm_count = 108,
  gpu.compute_capability = 8.0;
  return gpu;
}

/// Round numbers: no operand loading, no prologue, no overlap losses, no cache.
KernelCalibration plain_calibration() {
  KernelCalibration calibration;
  calibration.launch_gap = microseconds(1), calibration.minimum = microseconds(2);
  calibration.conv = calibration.gemm = {0.5, 0.25, 0.5, 0.5};
  calibration.product = {0, 0, 0, 1e30};
  calibration.roofline_power = 1e3;
  return calibration;
}

/// One matrix product whose m x n fills whole waves of every tile shape on 80 and on 108 multiprocessors, so
/// that only its FLOPs count.
Operator gemm(double flops, double bytes) {
  const double side = 256.0 * 80 * 108;
  Operator op = make_operator(OperatorClass::gemm, HostCall::linear, per_sample(flops), per_sample(bytes));
  return op.with({side, side, flops / 2 / side / side, 1, 1, Product::Grows::rows, 1, 1, per_sample(bytes)});
}

Time time_on(const Gpu& gpu, const Operator& op, Precision precision, std::int64_t batch,
             const KernelCalibration& calibration, const Framework& framework = {}) {
  return kernel_time(op, {gpu, calibration, precision, framework, false}, batch);
}

Time plain_time(const Gpu& gpu, const Operator& op, Precision precision, std::int64_t batch) {
  return time_on(gpu, op, precision, batch, plain_calibration());
}

/// Samples per second of forward, backward and a foreach SGD step, without host, input and communication.
double rate_with(const Framework& framework, const Model& model, const Gpu& gpu, Precision precision,
                 std::int64_t batch) {
  const ExpandedModel expanded = lower(expand(model).model, framework);
  const KernelCalibration calibration = default_kernel_calibration(gpu);
  Time step{};
  for (const Operator& op : expanded.forward)
    step += time_on(gpu, op, precision, batch, calibration, framework);
  for (const BackwardStep& backward : expanded.backward)
    step += time_on(gpu, backward.op, precision, batch, calibration, framework);
  std::vector<std::int64_t> tensors;
  for (const Parameter& parameter : expanded.parameters) tensors.push_back(parameter.elements);
  for (const OptimizerLaunch& launch :
       optimizer_launches({OptimizerKind::momentum, OptimizerForm::foreach, true}, tensors)) {
    step += memory_kernel_time(launch.bytes, gpu, calibration);
  }
  return static_cast<double>(batch) / to_seconds(step);
}

double training_rate(const Model& model, const Gpu& gpu, Precision precision, std::int64_t batch,
                     ImageLayout layout) {
  Framework framework;
  framework.layout = layout;
  return rate_with(framework, model, gpu, precision, batch);
}

double fused_rate(const Model& model, const Gpu& gpu, Precision precision, std::int64_t batch) {
  Framework framework;
  framework.execution = Execution::compiled;
  return rate_with(framework, model, gpu, precision, batch);
}

Operator convolution(std::int32_t window, std::int32_t stride) {
  Operator op = make_operator(OperatorClass::conv, HostCall::conv2d, per_sample(15.67e9), per_sample(0));
  // 80 x 40 tiles of 128 x 32 fill whole waves of 80 multiprocessors; as many channels as make 15.67e9 FLOPs
  // of it.
  const double m = 128.0 * 80, n = 32.0 * 40;
  return op.with({m, n, 15.67e9 / 2 / m / n, 1, 1, Product::Grows::rows, window, stride, {}});
}

}  // namespace

TEST_CASE("arithmetic sets the time of a dense operator") {
  // 15.67e9 FLOPs at 15.67e12 * 0.5 = 2 ms, plus 1 + 2 us.
  CHECK(to_seconds(plain_time(v100(), gemm(15.67e9, 1e6), Precision::fp32, 1)) ==
        Approx(2003e-6).epsilon(1e-6));
}

TEST_CASE("traffic sets the time of a sparse operator") {
  // 738 MB at 900e9 * 0.82 = 738e9 B/s: 1 ms.
  CHECK(to_seconds(plain_time(v100(), gemm(1e6, 738e6), Precision::fp32, 1)) ==
        Approx(1003e-6).epsilon(1e-6));
  CHECK(memory_kernel_time(Bytes{738'000'000}, v100(), plain_calibration()) == microseconds(1003));
}

TEST_CASE("arithmetic and traffic of one product overlap by a power mean") {
  // p = 1: they add. Both 1 ms: 2^(1/p) ms; 62.65e9 FLOPs at half of 125.3e12, 738 MB in 16 bit.
  KernelCalibration calibration = plain_calibration();
  calibration.roofline_power = 1;
  const Operator both = gemm(62.65e9, 2 * 738e6);
  CHECK(to_seconds(time_on(v100(), both, Precision::amp_fp16, 1, calibration)) ==
        Approx(2003e-6).epsilon(1e-6));
  calibration.roofline_power = 2;
  CHECK(to_seconds(time_on(v100(), both, Precision::amp_fp16, 1, calibration)) ==
        Approx(1.41421e-3 + 3e-6).epsilon(1e-5));
}

TEST_CASE("bytes beside the products are a pass over memory of their own") {
  Operator op = gemm(15.67e9, 0);
  op.bytes = per_sample(738e6);
  CHECK(to_seconds(plain_time(v100(), op, Precision::fp32, 1)) == Approx(3003e-6).epsilon(1e-6));
}

TEST_CASE("the fixed part is paid per kernel and the batch multiplies the work") {
  Operator op = gemm(15.67e9, 0);
  op.kernels = 3;
  CHECK(to_seconds(plain_time(v100(), op, Precision::fp32, 2)) == Approx(4009e-6).epsilon(1e-6));
}

TEST_CASE("the anchor scales everything") {
  KernelCalibration calibration = plain_calibration();
  calibration.time_scale = 2;
  CHECK(to_seconds(time_on(v100(), gemm(15.67e9, 0), Precision::fp32, 1, calibration)) ==
        Approx(4006e-6).epsilon(1e-6));
}

TEST_CASE("sixteen bits halve the traffic of operators that run in them") {
  Operator relu =
      make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(1), per_sample(738e6));
  CHECK(plain_time(v100(), relu, Precision::amp_fp16, 1) == microseconds(503));
  relu.half_capable = false;
  Framework tensorflow;
  tensorflow.kind = FrameworkKind::tensorflow;
  CHECK(time_on(v100(), relu, Precision::amp_fp16, 1, plain_calibration(), tensorflow) == microseconds(1003));
}

TEST_CASE("autocast casts what stays in 32 bit: its result, and the operand of a softmax as well") {
  // 738 MB are 92.25e6 elements forward at 8 bytes; a cast moves 6 bytes of each: 0.75 ms more.
  Operator norm =
      make_operator(OperatorClass::normalization, HostCall::layer_norm, per_sample(1), per_sample(738e6));
  norm.half_capable = false;
  Operator softmax =
      make_operator(OperatorClass::reduction, HostCall::softmax, per_sample(1), per_sample(738e6));
  softmax.half_capable = false;
  CHECK(plain_time(v100(), norm, Precision::amp_fp16, 1) == microseconds(1503 + 750));
  CHECK(plain_time(v100(), softmax, Precision::amp_fp16, 1) == microseconds(1003 + 1500));
  CHECK(plain_time(v100(), softmax, Precision::fp32, 1) == microseconds(1003));
}

TEST_CASE("what fits half of the cache moves at the cache's speed") {
  // 2 MB of traffic, 4 MB of cache, 4 times as fast: 2e6 / 738e9 / 4. At 4 MB only half of it is found there.
  Gpu gpu = v100();
  gpu.l2_cache = Bytes{4'000'000};
  KernelCalibration calibration = plain_calibration();
  calibration.cache_speed = 4;
  CHECK(to_seconds(memory_kernel_time(Bytes{2'000'000}, gpu, calibration)) == Approx(3e-6 + 2e6 / 738e9 / 4));
  CHECK(to_seconds(memory_kernel_time(Bytes{4'000'000}, gpu, calibration)) ==
        Approx(3e-6 + 4e6 / 738e9 * (0.5 + 0.5 / 4)));
}

TEST_CASE("normalization moves its tensors more often than it names them") {
  Operator norm =
      make_operator(OperatorClass::normalization, HostCall::batch_norm, per_sample(1), per_sample(738e6));
  CHECK(plain_time(v100(), norm, Precision::fp32, 1) == microseconds(1503));
  norm.backward = true;
  CHECK(to_seconds(plain_time(v100(), norm, Precision::fp32, 1)) == Approx(1e-3 * 5 / 3 + 3e-6));
}

TEST_CASE("16-bit convolutions in channels-first layout are transposed for the tensor cores") {
  Operator conv = convolution(9, 1);
  conv.bytes = conv.products[0].bytes = per_sample(738e6);
  KernelCalibration calibration = plain_calibration();
  calibration.transpose_passes = 2;
  Framework first, last;
  first.layout = ImageLayout::channels_first, last.layout = ImageLayout::channels_last;
  const auto seconds_in = [&](const Framework& framework, Precision precision) {
    return to_seconds(time_on(v100(), conv, precision, 1, calibration, framework));
  };
  // Two passes over 369 MB of 16-bit tensors at 738e9 B/s.
  CHECK(seconds_in(first, Precision::amp_fp16) - seconds_in(last, Precision::amp_fp16) == Approx(1e-3));
  CHECK(seconds_in(first, Precision::fp32) == seconds_in(last, Precision::fp32));
}

TEST_CASE("a recurrent layer pays for each of its dependent steps") {
  Operator step = gemm(15.67e9, 0);
  Operator sequence = step;
  sequence.products[0].serial = 10;
  KernelCalibration calibration = plain_calibration();
  calibration.serial_step = microseconds(5);
  const double one = to_seconds(time_on(v100(), step, Precision::fp32, 1, calibration)) - 3e-6;
  CHECK(to_seconds(time_on(v100(), sequence, Precision::fp32, 1, calibration)) ==
        Approx(3e-6 + 10 * one + 9 * 5e-6).epsilon(1e-6));
}

TEST_CASE("a GPU without any rate takes the longest time instead of dividing by zero") {
  const Gpu nothing;
  CHECK(plain_time(nothing, gemm(1e9, 1e6), Precision::fp32, 1) == kLongestTime);
  CHECK(plain_time(nothing, make_operator(OperatorClass::gemm, HostCall::linear, {}, {}), Precision::fp32,
                   1) == microseconds(3));
  CHECK(plain_time(v100(), gemm(1e9, 1e6), Precision::fp32, std::numeric_limits<std::int64_t>::max()) >
        Time{});
  CHECK(plain_time(v100(), gemm(1e9, 1e6), Precision::fp32, -5) == microseconds(3));
}

TEST_CASE("ResNet-50 trains near the published rates without an anchor") {
  // NVIDIA DeepLearningExamples, PyTorch resnet50v1.5, channels last, batch 256 per GPU, images/s.
  const ImageLayout last = ImageLayout::channels_last, first = ImageLayout::channels_first;
  CHECK(training_rate(test::resnet50(), v100(), Precision::fp32, 256, last) == Approx(367).epsilon(0.15));
  CHECK(training_rate(test::resnet50(), v100(), Precision::amp_fp16, 256, last) ==
        Approx(1200).epsilon(0.20));
  CHECK(training_rate(test::resnet50(), a100(), Precision::tf32, 256, last) == Approx(938).epsilon(0.10));
  CHECK(training_rate(test::resnet50(), a100(), Precision::amp_fp16, 256, last) ==
        Approx(2470).epsilon(0.20));
  // CSC Puhti, channels first, batch 32, whole job: the loader and the host are still missing here.
  CHECK(training_rate(test::resnet50(), v100(), Precision::fp32, 32, first) == Approx(326).epsilon(0.10));
  CHECK(training_rate(test::resnet50(), v100(), Precision::amp_fp16, 32, first) == Approx(665).epsilon(0.15));
}

TEST_CASE("BERT-large trains near the published rates with the same efficiencies") {
  // NVIDIA DeepLearningExamples, PyTorch BERT pre-training at s = 128, sequences/s: V100 50 and 224, A100 317
  // and 580. Theirs has fused kernels; it is compiled here.
  const Model bert = test::encoder(24, 128, 1024, 16, 30522);
  CHECK(fused_rate(bert, v100(), Precision::fp32, 64) == Approx(50).epsilon(0.10));
  CHECK(fused_rate(bert, v100(), Precision::amp_fp16, 64) == Approx(224).epsilon(0.20));
  CHECK(fused_rate(bert, a100(), Precision::tf32, 64) == Approx(317).epsilon(0.25));
  CHECK(fused_rate(bert, a100(), Precision::amp_fp16, 64) == Approx(580).epsilon(0.25));
}

TEST_CASE("a large bf16 matrix product reaches about what was measured") {
  // 8192^3: 1.1e12 FLOPs. Measured best case 271 of 312 TFLOP/s (HARDWARE facts, MAMF finder).
  const double side = 8192, flops = 2 * side * side * side;
  Operator op =
      make_operator(OperatorClass::gemm, HostCall::linear, per_sample(flops), per_sample(12 * side * side));
  op.with({side, side, side, 1, 1, Product::Grows::rows, 1, 1, per_sample(12 * side * side)});
  const Time time = time_on(a100(), op, Precision::bf16, 1, default_kernel_calibration(a100()));
  CHECK(flops / to_seconds(time) > 0.6 * 312e12);
  CHECK(flops / to_seconds(time) < 275e12);
}

}  // namespace kernel_time_test
