// Kernel time: the roofline's two sides, which arithmetic runs where, and published training rates.
#include "sim/workload/device/kernel_time.hpp"

#include <limits>

#include "sim/workload/optimizer.hpp"
#include "sim/workload/tape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

using namespace foretrain;

namespace {

Gpu v100() {
  Gpu gpu;
  gpu.name = "V100-SXM2-16GB", gpu.architecture = Architecture::volta;
  gpu.fp32 = {15.67e12}, gpu.fp16 = {125.3e12};
  gpu.memory_bandwidth = {900e9}, gpu.memory_efficiency = 0.82;
  return gpu;
}

Gpu a100() {
  Gpu gpu;
  gpu.name = "A100-SXM4-80GB", gpu.architecture = Architecture::ampere;
  gpu.fp32 = {19.49e12}, gpu.tf32 = {156e12}, gpu.fp16 = gpu.bf16 = {312e12};
  gpu.memory_bandwidth = {2039e9}, gpu.memory_efficiency = 0.82;
  return gpu;
}

Gpu p100() {
  Gpu gpu;
  gpu.architecture = Architecture::pascal;
  gpu.fp32 = {9.34e12}, gpu.fp16 = {18.68e12};
  gpu.memory_bandwidth = {732e9}, gpu.memory_efficiency = 0.68;
  return gpu;
}

KernelCalibration plain_calibration() {
  KernelCalibration calibration;
  calibration.launch_gap = microseconds(1), calibration.minimum = microseconds(2);
  calibration.conv = calibration.gemm = {0.5, 0.25, 0.5};
  return calibration;
}

Operator gemm(double flops, double bytes) {
  return make_operator(OperatorClass::gemm, HostCall::linear, per_sample(flops), per_sample(bytes));
}

/// Samples per second of forward, backward and a foreach SGD step, without host, input and communication.
double training_rate(const Model& model, const Gpu& gpu, Precision precision, std::int64_t batch) {
  const ExpandedModel expanded = expand(model).model;
  const KernelCalibration calibration = default_kernel_calibration(gpu.architecture);
  Time step{};
  for (const Operator& op : expanded.forward) step += kernel_time(op, gpu, calibration, precision, batch);
  for (const BackwardStep& backward : expanded.backward) step += kernel_time(backward.op, gpu, calibration, precision, batch);
  std::vector<std::int64_t> tensors;
  for (const Parameter& parameter : expanded.parameters) tensors.push_back(parameter.elements);
  for (const OptimizerLaunch& launch : optimizer_launches({OptimizerKind::momentum, OptimizerForm::foreach, true}, tensors)) {
    step += memory_kernel_time(launch.bytes, gpu, calibration);
  }
  return static_cast<double>(batch) / to_seconds(step);
}

}  // namespace

TEST_CASE("arithmetic sets the time of a dense operator") {
  // 15.67e9 FLOPs at 15.67e12 * 0.5 = 2 ms, plus 1 + 2 us.
  CHECK(kernel_time(gemm(15.67e9, 1e6), v100(), plain_calibration(), Precision::fp32, 1) == microseconds(2003));
}

TEST_CASE("traffic sets the time of a sparse operator") {
  // 738 MB at 900e9 * 0.82 = 738e9 B/s: 1 ms.
  CHECK(kernel_time(gemm(1e6, 738e6), v100(), plain_calibration(), Precision::fp32, 1) == microseconds(1003));
  CHECK(memory_kernel_time(Bytes{738'000'000}, v100(), plain_calibration()) == microseconds(1003));
}

TEST_CASE("the fixed part is paid per kernel and the batch multiplies the work") {
  Operator op = gemm(15.67e9, 0);
  op.kernels = 3;
  CHECK(kernel_time(op, v100(), plain_calibration(), Precision::fp32, 2) == microseconds(3 * 3 + 4000));
}

TEST_CASE("the anchor scales everything") {
  KernelCalibration calibration = plain_calibration();
  calibration.time_scale = 2;
  CHECK(kernel_time(gemm(15.67e9, 0), v100(), calibration, Precision::fp32, 1) == microseconds(4006));
}

TEST_CASE("sixteen bits halve the traffic of operators that run in them") {
  Operator relu = make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(1), per_sample(738e6));
  CHECK(kernel_time(relu, v100(), plain_calibration(), Precision::amp_fp16, 1) == microseconds(503));
  relu.half_capable = false;
  CHECK(kernel_time(relu, v100(), plain_calibration(), Precision::amp_fp16, 1) == microseconds(1003));
}

TEST_CASE("normalization moves its tensors more often than it names them") {
  Operator norm = make_operator(OperatorClass::normalization, HostCall::batch_norm, per_sample(1), per_sample(738e6));
  CHECK(kernel_time(norm, v100(), plain_calibration(), Precision::fp32, 1) == microseconds(1503));
  norm.backward = true;
  CHECK(to_seconds(kernel_time(norm, v100(), plain_calibration(), Precision::fp32, 1)) == Approx(1e-3 * 5 / 3 + 3e-6));
}

TEST_CASE("Ampere runs fp32 convolutions in TF32 and fp32 matrix products on CUDA cores") {
  CHECK(peak_rate(OperatorClass::conv, a100(), Precision::fp32) == FlopRate{156e12});
  CHECK(peak_rate(OperatorClass::gemm, a100(), Precision::fp32) == FlopRate{19.49e12});
  CHECK(peak_rate(OperatorClass::gemm, a100(), Precision::tf32) == FlopRate{156e12});
  CHECK(peak_rate(OperatorClass::conv, v100(), Precision::fp32) == FlopRate{15.67e12});
  CHECK(peak_rate(OperatorClass::conv, v100(), Precision::tf32) == FlopRate{15.67e12});
}

TEST_CASE("half runs on tensor cores where there are some, else at the best rate of the CUDA cores") {
  CHECK(peak_rate(OperatorClass::conv, v100(), Precision::amp_fp16) == FlopRate{125.3e12});
  CHECK(peak_rate(OperatorClass::conv, v100(), Precision::bf16) == FlopRate{15.67e12});  // Volta has no bf16
  CHECK(peak_rate(OperatorClass::gemm, a100(), Precision::bf16) == FlopRate{312e12});
  CHECK(peak_rate(OperatorClass::conv, p100(), Precision::amp_fp16) == FlopRate{18.68e12});
  Gpu p4 = p100();
  p4.fp16 = {0.085e12};
  CHECK(peak_rate(OperatorClass::conv, p4, Precision::amp_fp16) == p4.fp32);
  CHECK(peak_rate(OperatorClass::depthwise_conv, v100(), Precision::amp_fp16) == v100().fp32);
  CHECK(peak_rate(OperatorClass::elementwise, v100(), Precision::fp32) == FlopRate{});
}

TEST_CASE("a GPU without any rate takes the longest time instead of dividing by zero") {
  const Gpu nothing;
  CHECK(kernel_time(gemm(1e9, 1e6), nothing, plain_calibration(), Precision::fp32, 1) == kLongestTime);
  CHECK(kernel_time(gemm(0, 0), nothing, plain_calibration(), Precision::fp32, 1) == microseconds(3));
  CHECK(kernel_time(gemm(1e9, 1e6), v100(), plain_calibration(), Precision::fp32, std::numeric_limits<std::int64_t>::max()) > Time{});
  CHECK(kernel_time(gemm(1e9, 1e6), v100(), plain_calibration(), Precision::fp32, -5) == microseconds(3));
}

TEST_CASE("ResNet-50 trains near the published rates without an anchor") {
  // NVIDIA DeepLearningExamples, PyTorch resnet50v1.5, batch 256 per GPU, images/s.
  CHECK(training_rate(test::resnet50(), v100(), Precision::fp32, 256) == Approx(367).epsilon(0.10));
  CHECK(training_rate(test::resnet50(), v100(), Precision::amp_fp16, 256) == Approx(1200).epsilon(0.12));
  CHECK(training_rate(test::resnet50(), a100(), Precision::tf32, 256) == Approx(938).epsilon(0.10));
  CHECK(training_rate(test::resnet50(), a100(), Precision::amp_fp16, 256) == Approx(2470).epsilon(0.10));
  // CSC Puhti, batch 32, whole job: the loader and the host are still missing here.
  CHECK(training_rate(test::resnet50(), v100(), Precision::fp32, 32) == Approx(326).epsilon(0.10));
}

TEST_CASE("BERT-large trains near the published rates with the same efficiencies") {
  // NVIDIA DeepLearningExamples, PyTorch BERT pre-training at s = 128, sequences/s: V100 50 and 224, A100 317 and 580.
  const Model bert = test::encoder(24, 128, 1024, 16, 30522);
  CHECK(training_rate(bert, v100(), Precision::fp32, 64) == Approx(50).epsilon(0.10));
  CHECK(training_rate(bert, v100(), Precision::amp_fp16, 64) == Approx(224).epsilon(0.15));
  CHECK(training_rate(bert, a100(), Precision::tf32, 64) == Approx(317).epsilon(0.15));
  CHECK(training_rate(bert, a100(), Precision::amp_fp16, 64) == Approx(580).epsilon(0.15));
}

TEST_CASE("a large bf16 matrix product reaches about three quarters of an A100") {
  // 8192^3: 1.1e12 FLOPs. Measured best case 271 of 312 TFLOP/s.
  const double flops = 2.0 * 8192 * 8192 * 8192;
  const Time time =
      kernel_time(gemm(flops, 3 * 4.0 * 8192 * 8192), a100(), default_kernel_calibration(Architecture::ampere), Precision::bf16, 1);
  CHECK(flops / to_seconds(time) > 0.7 * 312e12);
  CHECK(flops / to_seconds(time) < 271.2e12);
}
