// Time of a kernel: matrix products in tiles, everything else by the bytes it moves, with constants of the
// GPU's family.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/arithmetic.hpp"
#include "sim/workload/device/kernel_calibration.hpp"
#include "sim/workload/device/library_tiles.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// The facts that all kernels of a run share. Holds references to the GPU and the calibration, which must
/// outlive it.
struct KernelContext {
  const Gpu& gpu;
  const KernelCalibration& calibration;
  Precision precision = Precision::fp32;
  Framework framework{};
  /// Under a 16-bit precision everything but the loss runs in 16 bits, without casts
  /// (Workload::half_weights).
  bool half_weights = false;
};

/// Returns the time of one operator at one batch size. Plain products in 16 and 8 bits and fused attention in
/// 16 bits take tensor_product_seconds() and fused_attention_seconds() on GPUs of tensor_cores_of(). An
/// operator with a stated time (Operator::stated) takes that time. Every other takes the sum of
/// - kernels x (launch_gap + minimum),
/// - (arithmetic^p + memory^p)^(1/p) for each matrix product, with its arithmetic in tiles (product_time),
/// - the rest of its bytes at the achieved bandwidth, or at the cache's for bytes that fit the cache.
/// KernelCalibration::time_scale multiplies each of these times, stated ones too.
Time kernel_time(const Operator& op, const KernelContext& context, std::int64_t batch);
/// Returns the same time in seconds, before time_scale.
double kernel_seconds(const Operator& op, const KernelContext& context, std::int64_t batch);

/// Returns the time of a kernel that only moves bytes (bucket copies, casts, optimizer launches).
Time memory_kernel_time(Bytes bytes, const Gpu& gpu, const KernelCalibration& calibration);

/// The device as a product uses it, for product_seconds().
struct ProductDevice {
  Arithmetic arithmetic = Arithmetic::cuda_cores;
  bool is_convolution = false;  ///< its kernels have no small square tiles
  double flops_per_s = 0;       ///< rate of one multiprocessor at the class's efficiency for large products
  double flops_per_clock = 0;   ///< peak of one multiprocessor
  int multiprocessors = 1;
  double bytes_per_s = 0;  ///< achieved memory bandwidth
  double element_bytes = 4;
  const ProductCosts* costs = nullptr;
  bool is_simt = false;     ///< CUDA cores since Pascal: measured kernel by kernel (ProductCosts)
  bool issues_two = false;  ///< a load beside an FMA in one clock: Pascal's multiprocessors of 128 cores
  LibraryTiles tiles = usual_tiles();
  double overlap_power = 2.7;  ///< KernelCalibration::roofline_power
};

/// Returns the seconds of arithmetic for the best of the library's tiles and splits of the depth, all serial
/// steps together. The time is waves x tile time, where waves = ceil(ceil(m / tile m) ceil(n / tile n) count
/// split / multiprocessors) and tile time = 2 tile_m tile_n (k / split + prologue) / (rate x tile
/// efficiency). A split depth adds the traffic of the partial sums. Formula and constants:
/// docs/models/kernels.md, for CUDA cores docs/models/kernels.md.
double product_seconds(const Product& product, double batch, const ProductDevice& device);

}  // namespace foretrain
