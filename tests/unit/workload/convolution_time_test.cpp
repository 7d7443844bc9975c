// Convolutions on CUDA cores: what each algorithm takes, and which of them exist.
#include "sim/workload/device/convolution_time.hpp"

#include <cmath>

#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace convolution_time_test {

using namespace foretrain;

namespace {

Gpu volta() {
  Gpu gpu;
  gpu.architecture = Architecture::volta, gpu.memory_bandwidth = {1e12}, gpu.memory_efficiency = 1;
  return gpu;
}

/// Perfect overlap, no fixed part, no prologue of products, and nothing lost inside of a tile.
KernelCalibration bare() {
  KernelCalibration calibration;
  calibration.roofline_power = 1e3, calibration.transpose_passes = 2, calibration.winograd = 0.5;
  calibration.product = {0, 0, 0, 1e30};
  return calibration;
}

/// One TFLOP/s a multiprocessor.
ProductDevice device_with(const KernelCalibration& calibration, const Gpu& gpu, int multiprocessors) {
  ProductDevice d;
  d.is_convolution = d.is_simt = d.issues_two = true;
  d.flops_per_s = 1e12, d.flops_per_clock = 128, d.multiprocessors = multiprocessors;
  d.bytes_per_s = 1e12, d.costs = &calibration.product, d.tiles = core_tiles(gpu);
  d.overlap_power = calibration.roofline_power;
  return d;
}

/// Channels to filters on images of side x side, padding keeps the side.
Product convolution(double from, double to, double side, std::int32_t window = 9, std::int32_t stride = 1) {
  Product p;
  p.m = side * side, p.n = to, p.k = from * window, p.window = window, p.stride = stride;
  p.bytes = {4 * from * to * window, 4 * side * side * (from + to)};
  return p;
}

ConvolutionTimes times_of(const Product& product, double batch, const KernelCalibration& calibration,
                          int multiprocessors = 1) {
  const Gpu gpu = volta();
  return convolution_times(product, batch, device_with(calibration, gpu, multiprocessors), gpu, calibration);
}

}  // namespace

TEST_CASE("an implicit GEMM is the product of its places, filters and window") {
  // 4 images of 8 x 8 are 256 places, two tiles of 128 x 128, of depth 9 x 64.
  CHECK(times_of(convolution(64, 128, 8), 4, bare()).implicit_gemm ==
        Approx(2 * 2.0 * 128 * 128 * 9 * 64 / 1e12));
}

TEST_CASE("a fused Winograd kernel takes 16 products for each 32 filters of 32 squares of 2 by 2") {
  // 8 images of 8 x 8 are 128 squares, 4 blocks; 32 filters, 1 block; depth 64 and 16 of prologue.
  // Transforming the filters moves 25 x 64 x 32 numbers twice.
  const ConvolutionTimes times = times_of(convolution(64, 32, 8), 8, bare());
  const double blocks = 4 * 2.0 * 16 * 32 * 32 * (64 + 16) / 0.5e12, filters = 2 * 4.0 * 25 * 64 * 32 / 1e12;
  CHECK(times.fused_winograd == Approx(blocks + filters));
}

TEST_CASE("a Winograd in three steps takes 36 products for squares of 4 by 4") {
  // 32 images of 8 x 8 are 128 squares; 128 filters of 64 channels. On Volta the batched tiles are no larger
  // than 128 x 32, which fill 128 x 128 as well. Transforms move tensors and points twice.
  const ConvolutionTimes times = times_of(convolution(64, 128, 8), 32, bare());
  const double products = 36 * 2.0 * 128 * 128 * 64 / 1e12;
  const double points = 36 * 4.0 * (128 * 64 + 64 * 128 + 128 * 128),
               tensors = 4.0 * 64 * 128 * 9 + 32 * 4.0 * 64 * (64 + 128);
  CHECK(times.separate_winograd == Approx(products + 2 * (points + tensors) / 1e12));
}

TEST_CASE("Winograd is for windows of 3 by 3 and stride 1 on GPUs, and fused not for weights") {
  const KernelCalibration calibration = bare();
  for (const Product& p : {convolution(64, 64, 16, 1), convolution(64, 64, 16, 9, 2)}) {
    const ConvolutionTimes times = times_of(p, 8, calibration);
    CHECK(std::isinf(times.fused_winograd));
    CHECK(std::isinf(times.separate_winograd));
    CHECK(times.fastest() == times.implicit_gemm);
  }
  Product weights = convolution(64, 64, 16);
  weights.m = 64, weights.n = 64 * 9, weights.k = 256, weights.grows = Product::Grows::depth;
  CHECK(std::isinf(times_of(weights, 8, calibration).fused_winograd));
  CHECK(std::isfinite(times_of(weights, 8, calibration).separate_winograd));
  ProductDevice kepler = device_with(calibration, volta(), 1);
  kepler.is_simt = false;
  CHECK(std::isinf(
      convolution_times(convolution(64, 64, 16), 8, kepler, volta(), calibration).separate_winograd));
}

TEST_CASE("both gradients of a 3 by 3 convolution take as long as forward where all sizes are alike") {
  // 64 channels and filters, 64 squares of 4 x 4: each of the 36 products is 64 x 64 x 64.
  const KernelCalibration calibration = bare();
  Product forward = convolution(64, 64, 16), weights = forward;
  weights.m = 64, weights.n = 64 * 9, weights.k = 256, weights.grows = Product::Grows::depth;
  CHECK(times_of(weights, 4, calibration).separate_winograd ==
        Approx(times_of(forward, 4, calibration).separate_winograd));
}

TEST_CASE("a larger convolution is never faster by any algorithm, and the fastest is one of them") {
  const KernelCalibration calibration;
  const CounterRandom random(3);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto size = [&](std::uint64_t stream, double most) {
      return 1 + std::floor(most * random.uniform(stream, i));
    };
    const double from = size(0, 500), to = size(1, 500), side = 3 + size(2, 60), batch = size(3, 40);
    const ConvolutionTimes times = times_of(convolution(from, to, side), batch, calibration, 80);
    const ConvolutionTimes larger = times_of(
        convolution(from + size(4, 99), to + size(5, 99), side + size(6, 9)), batch, calibration, 80);
    CHECK(times.implicit_gemm <= larger.implicit_gemm);
    CHECK(times.fused_winograd <= larger.fused_winograd);
    CHECK(times.separate_winograd <= larger.separate_winograd);
    CHECK((times.fastest() == times.implicit_gemm || times.fastest() == times.fused_winograd ||
           times.fastest() == times.separate_winograd));
    CHECK(times.fastest() <= std::min(times.implicit_gemm, times.fused_winograd));
  }
}

}  // namespace convolution_time_test
