// Batch norm and pooling against kernels that PyTorch's profiler timed on an H100 (docs/measured/h100).
#include "sim/workload/device/channel_kernels.hpp"

#include <vector>

#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"

namespace channel_kernels_test {

using namespace foretrain;

namespace {

/// H100 SXM5 and K80 in round figures of their data sheets.
Gpu hopper() {
  Gpu gpu;
  gpu.architecture = Architecture::hopper, gpu.compute_capability = 9.0, gpu.sm_count = 132;
  gpu.fp32 = {66.9e12}, gpu.fp16 = gpu.bf16 = {989e12};
  gpu.memory_bandwidth = {3.35e12}, gpu.memory_efficiency = 0.88, gpu.l2_cache = {50'000'000};
  return gpu;
}

Gpu kepler() {
  Gpu gpu;
  gpu.architecture = Architecture::kepler, gpu.compute_capability = 3.7, gpu.sm_count = 13;
  gpu.fp32 = {4.1e12};
  gpu.memory_bandwidth = {0.24e12}, gpu.memory_efficiency = 0.78, gpu.l2_cache = {1'500'000};
  return gpu;
}

struct MeasuredNorm {
  double samples, channels, positions;
  bool is_half, backward;
  double microseconds;
};

Operator batch_norm(const MeasuredNorm& m) {
  const double n = m.channels * m.positions;
  Operator op = make_operator(OperatorClass::normalization, HostCall::batch_norm,
                              per_sample((m.backward ? 12 : 8) * n), per_sample((m.backward ? 12 : 8) * n));
  op.backward = m.backward;
  op.channels = static_cast<std::int64_t>(m.channels);
  return op;
}

double microseconds_of(const MeasuredNorm& m, const Gpu& which, ImageLayout layout) {
  const KernelCalibration calibration = default_kernel_calibration(which);
  Framework framework;
  framework.layout = layout;
  const KernelContext context{which, calibration, m.is_half ? Precision::amp_fp16 : Precision::fp32,
                              framework};
  return kernel_seconds(batch_norm(m), context, static_cast<std::int64_t>(m.samples)) * 1e6;
}

}  // namespace

TEST_CASE("batch norm takes what an H100 took where channels are fewer than multiprocessors or more") {
  const std::vector<MeasuredNorm> measured{
      {64, 64, 12544, true, false, 603},  {64, 64, 12544, true, true, 1166},
      {64, 64, 12544, false, false, 481}, {64, 64, 12544, false, true, 1224},
      {64, 256, 3136, true, false, 217},  {64, 512, 784, true, false, 47.3},
      {64, 512, 784, false, true, 194},   {64, 2048, 49, false, false, 29.4},
      {256, 64, 12544, false, true, 4860}};
  for (const MeasuredNorm& m : measured) {
    INFO(m.samples << " x " << m.channels << " x " << m.positions << (m.backward ? " backward" : " forward")
                   << (m.is_half ? " 16 bit" : " 32 bit"));
    CHECK(microseconds_of(m, hopper(), ImageLayout::channels_first) == Approx(m.microseconds).epsilon(0.45));
  }
  double predicted = 0, all = 0;
  for (const MeasuredNorm& m : measured)
    predicted += microseconds_of(m, hopper(), ImageLayout::channels_first), all += m.microseconds;
  CHECK(predicted == Approx(all).epsilon(0.15));
}

TEST_CASE("twice the channels of a batch norm are free while multiprocessors stand still") {
  const MeasuredNorm few{64, 32, 12544, true, false, 0}, more{64, 64, 12544, true, false, 0},
      many{64, 512, 12544, true, false, 0};
  const auto time = [](const MeasuredNorm& m) {
    return microseconds_of(m, hopper(), ImageLayout::channels_first);
  };
  CHECK(time(more) == Approx(time(few)).epsilon(0.02));
  CHECK(time(many) > 2 * time(more));
}

TEST_CASE(
    "a batch norm in channels_last layout, and one on a GPU with slow memory, takes what its bytes take") {
  const MeasuredNorm norm{64, 64, 12544, false, true, 0};
  const double first = microseconds_of(norm, hopper(), ImageLayout::channels_first),
               last = microseconds_of(norm, hopper(), ImageLayout::channels_last);
  CHECK(first > 2 * last);
  const double old_first = microseconds_of(norm, kepler(), ImageLayout::channels_first),
               old_last = microseconds_of(norm, kepler(), ImageLayout::channels_last);
  CHECK(old_first < 1.1 * old_last);
}

TEST_CASE("pooling takes what an H100 took for visits of its windows") {
  const Gpu gpu = hopper();
  const KernelCalibration calibration = default_kernel_calibration(gpu);
  const KernelContext context{gpu, calibration, Precision::amp_fp16};
  const auto time = [&](double in, double out, double visits, bool backward) {
    Operator op = make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(visits),
                                per_sample(4 * in + (backward ? 4 * in : 0) + 12 * out));
    op.backward = backward;
    op.visits = per_sample(visits);
    return kernel_seconds(op, context, 256) * 1e6;
  };
  const double in = 64 * 112 * 112, out = 64 * 56 * 56;
  CHECK(time(in, out, 9 * out, false) == Approx(833).epsilon(0.15));
  CHECK(time(in, out, 9 * out, true) == Approx(2281).epsilon(0.15));
}

TEST_CASE("gradients of depthwise convolutions take what an H100 took, with and without a stride") {
  // MobileNetV2, 64 images: 144 channels of 56 x 56, and 96 channels of 112 x 112 with stride 2.
  struct Measured {
    double channels, in, out;
    int stride;
    double input_us, weights_us;
  };
  const Gpu gpu = hopper();
  const KernelCalibration calibration = default_kernel_calibration(gpu);
  const KernelContext context{gpu, calibration, Precision::fp32};
  for (const Measured& m :
       {Measured{144, 56 * 56, 56 * 56, 1, 519, 417}, Measured{96, 112 * 112, 56 * 56, 2, 1261, 306}}) {
    INFO(m.channels << " channels, stride " << m.stride);
    Operator op = make_operator(OperatorClass::depthwise_conv, HostCall::conv2d, {}, {});
    op.backward = true;
    Product input{.m = m.in, .n = 1, .k = 9, .count = m.channels, .window = 9, .stride = m.stride};
    Product weights{.m = 1, .n = 9, .k = m.out, .count = m.channels, .window = 9, .stride = m.stride};
    weights.grows = Product::Grows::depth;
    CHECK(depthwise_seconds(op, input, context, 64) * 1e6 == Approx(m.input_us).epsilon(0.1));
    CHECK(depthwise_seconds(op, weights, context, 64) * 1e6 == Approx(m.weights_us).epsilon(0.25));
    Framework last;
    last.layout = ImageLayout::channels_last;
    CHECK(depthwise_seconds(op, input, {gpu, calibration, Precision::fp32, last}, 64) == 0);
  }
}

}  // namespace channel_kernels_test
