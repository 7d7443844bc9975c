// How long one matrix product or convolution runs: tiles in waves over the multiprocessors, or memory
// traffic.
#pragma once

#include "sim/workload/device/arithmetic.hpp"
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {

/// What a product runs on.
struct ProductDevice {
  Arithmetic arithmetic = Arithmetic::cuda_cores;
  bool is_convolution = false;  ///< its kernels have no small square tiles
  double flops_per_s = 0;       ///< of one multiprocessor at the class's large-product efficiency
  double flops_per_clock = 0;   ///< peak of one multiprocessor
  int multiprocessors = 1;
  double bytes_per_s = 0;  ///< of memory, achieved
  double element_bytes = 4;
  const ProductCosts* costs = nullptr;
};

/// Arithmetic seconds of the best tile and split of the depth: waves x tile time, where waves = ceil(ceil(m /
/// tile m) ceil(n / tile n) count split / multiprocessors) and tile time = 2 tile_m tile_n (k / split +
/// prologue) / (rate x tile efficiency). A split depth adds the partial sums' traffic. All serial steps
/// together. Formula and constants: docs/models/kernel_time.md.
double product_seconds(const Product& product, double batch, const ProductDevice& device);

}  // namespace foretrain
