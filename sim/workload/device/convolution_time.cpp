// Convolutions by implicit GEMM and by both of Winograd's algorithms. Images are assumed to be square,
// because a product knows only how many places its result has.
#include "sim/workload/device/convolution_time.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/device/traffic_time.hpp"

namespace foretrain {
namespace {

/// Sizes of a 3 x 3 convolution, in the same meaning for forward and both gradients.
struct WinogradShape {
  double images, side, from, to, count;
  bool for_weights;
  /// Returns the number of squares of `edge` x `edge` results.
  double squares(double edge) const { return images * std::pow(std::ceil(side / edge), 2); }
};

WinogradShape winograd_shape(const Product& p, double batch) {
  const bool for_weights = p.grows == Product::Grows::depth;
  const double places = for_weights ? p.k : p.m;
  const double from = (for_weights ? p.n : p.k) / p.window, to = for_weights ? p.m : p.n;
  return {batch, std::sqrt(places), from, to, p.count, for_weights};
}

bool has_winograd(const Product& product) { return product.window == 9 && product.stride == 1; }

/// Returns the seconds of the fused algorithm, F(2x2, 3x3), in one kernel. A block holds 32 output channels
/// of 32 squares of 2 x 2 results (cuDNN's 128x128 kernels) and makes 16 products of 32 x 32 x channels.
double fused_seconds(const WinogradShape& s, double bytes, const ProductDevice& device, const Gpu& gpu,
                     const KernelCalibration& calibration) {
  constexpr double kBlock = 32, kPoints = 16, kPrologue = 16;
  if (s.for_weights) return INFINITY;
  const double blocks = std::ceil(s.to / kBlock) * std::ceil(s.squares(2) / kBlock) * s.count;
  const double waves = std::ceil(blocks / device.multiprocessors);
  const double flops = waves * 2 * kPoints * kBlock * kBlock * (s.from + kPrologue);
  const double filters = device.element_bytes * (9 + kPoints) * s.from * s.to * s.count;
  return overlapped(flops / (device.flops_per_s * calibration.winograd),
                    memory_seconds(bytes, gpu, calibration), calibration.roofline_power) +
         calibration.transpose_passes * memory_seconds(filters, gpu, calibration) +
         fixed_seconds(1, calibration);
}

/// Returns the seconds of the separate algorithm, F(4x4, 3x3): transforms of the operands, 36 products of the
/// squares' points, and the transform of the results.
double separate_seconds(const WinogradShape& s, double bytes, ProductDevice device, const Gpu& gpu,
                        const KernelCalibration& calibration) {
  constexpr double kPoints = 36;
  const double squares = s.squares(4);
  Product p;
  p.m = s.for_weights ? s.to : squares, p.n = s.for_weights ? s.from : s.to;
  p.k = s.for_weights ? squares : s.from, p.count = kPoints * s.count;
  // The 36 products are plain batched matrix products, which have all the library's tiles.
  device.is_convolution = false;
  const double points = device.element_bytes * p.count * (squares * s.from + s.from * s.to + squares * s.to);
  return overlapped(product_seconds(p, 1, device), memory_seconds(points, gpu, calibration),
                    calibration.roofline_power) +
         calibration.transpose_passes * memory_seconds(bytes + points, gpu, calibration) +
         fixed_seconds(3, calibration);
}

}  // namespace

double ConvolutionTimes::fastest() const {
  return std::min({implicit_gemm, fused_winograd, separate_winograd});
}

ConvolutionTimes convolution_times(const Product& product, double batch, const ProductDevice& device,
                                   const Gpu& gpu, const KernelCalibration& calibration) {
  const double bytes = product.bytes.at(batch) * device.element_bytes / 4;
  ConvolutionTimes times{overlapped(product_seconds(product, batch, device),
                                    memory_seconds(bytes, gpu, calibration), calibration.roofline_power),
                         INFINITY, INFINITY};
  if (!has_winograd(product) || !device.is_simt) return times;
  const WinogradShape shape = winograd_shape(product, batch);
  times.fused_winograd = fused_seconds(shape, bytes, device, gpu, calibration);
  times.separate_winograd = separate_seconds(shape, bytes, device, gpu, calibration);
  return times;
}

}  // namespace foretrain
