// Which arithmetic runs where.
#include "sim/workload/device/arithmetic.hpp"

#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"

namespace arithmetic_test {

using namespace foretrain;

namespace {

Gpu gpu_of(Architecture architecture, double fp32, double tf32, double fp16, double bf16) {
  Gpu gpu;
  gpu.architecture = architecture;
  gpu.fp32 = {fp32}, gpu.tf32 = {tf32}, gpu.fp16 = {fp16}, gpu.bf16 = {bf16};
  gpu.memory_bandwidth = {900e9}, gpu.sm_count = 80;
  return gpu;
}

const Gpu kV100 = gpu_of(Architecture::volta, 15.67e12, 0, 125.3e12, 0);
const Gpu kA100 = gpu_of(Architecture::ampere, 19.49e12, 156e12, 312e12, 312e12);
const Gpu kP100 = gpu_of(Architecture::pascal, 9.34e12, 0, 18.68e12, 0);

FlopRate rate(OperatorClass cls, const Gpu& gpu, Precision precision, const Framework& framework = {}) {
  return peak_rate(make_operator(cls, HostCall::linear, per_sample(1), per_sample(1)), gpu, precision,
                   framework);
}

}  // namespace

TEST_CASE("Ampere runs fp32 convolutions in TF32 and fp32 matrix products on CUDA cores") {
  CHECK(rate(OperatorClass::conv, kA100, Precision::fp32) == FlopRate{156e12});
  CHECK(rate(OperatorClass::gemm, kA100, Precision::fp32) == FlopRate{19.49e12});
  CHECK(rate(OperatorClass::gemm, kA100, Precision::tf32) == FlopRate{156e12});
  CHECK(rate(OperatorClass::conv, kV100, Precision::fp32) == FlopRate{15.67e12});
  CHECK(rate(OperatorClass::conv, kV100, Precision::tf32) == FlopRate{15.67e12});
}

TEST_CASE("TensorFlow and some versions of PyTorch multiply fp32 matrices in TF32") {
  Framework tensorflow, pytorch;
  tensorflow.kind = FrameworkKind::tensorflow, tensorflow.version = {2, 4};
  CHECK(rate(OperatorClass::gemm, kA100, Precision::fp32, tensorflow) == FlopRate{156e12});
  pytorch.version = {1, 10};
  CHECK(rate(OperatorClass::gemm, kA100, Precision::fp32, pytorch) == FlopRate{156e12});
  pytorch.version = {1, 12};
  CHECK(rate(OperatorClass::gemm, kA100, Precision::fp32, pytorch) == FlopRate{19.49e12});
}

TEST_CASE("half runs on tensor cores where there are some, else at the best rate of the CUDA cores") {
  CHECK(rate(OperatorClass::conv, kV100, Precision::amp_fp16) == FlopRate{125.3e12});
  CHECK(rate(OperatorClass::conv, kV100, Precision::bf16) == FlopRate{15.67e12});  // Volta has no bf16
  CHECK(rate(OperatorClass::gemm, kA100, Precision::bf16) == FlopRate{312e12});
  CHECK(rate(OperatorClass::conv, kP100, Precision::amp_fp16) == FlopRate{18.68e12});
  const Gpu p4 = gpu_of(Architecture::pascal, 5.44e12, 0, 0.085e12, 0);
  CHECK(rate(OperatorClass::conv, p4, Precision::amp_fp16) == p4.fp32);
  CHECK(rate(OperatorClass::depthwise_conv, kV100, Precision::amp_fp16) == kV100.fp32);
  CHECK(rate(OperatorClass::elementwise, kV100, Precision::fp32) == FlopRate{});
}

TEST_CASE("fp8 is for trained matrix products, the rest of the run is bf16") {
  Gpu h100 = gpu_of(Architecture::hopper, 66.9e12, 494.7e12, 989e12, 989e12);
  h100.fp8 = {1979e12};
  CHECK(rate(OperatorClass::gemm, h100, Precision::fp8) == FlopRate{1979e12});
  CHECK(rate(OperatorClass::attention, h100, Precision::fp8) == FlopRate{989e12});
  CHECK(rate(OperatorClass::conv, h100, Precision::fp8) == FlopRate{989e12});
}

TEST_CASE("the clock follows from the peak and the cores of a multiprocessor") {
  CHECK(clock_rate(kV100) == Approx(1.53e9).epsilon(0.01));  // 15.67e12 / (80 x 64 x 2)
  Gpu rtx3090 = gpu_of(Architecture::ampere, 35.58e12, 35.6e12, 71.2e12, 71.2e12);
  rtx3090.compute_capability = 8.6, rtx3090.sm_count = 82;
  CHECK(clock_rate(rtx3090) == Approx(1.695e9).epsilon(0.01));
}

}  // namespace arithmetic_test
