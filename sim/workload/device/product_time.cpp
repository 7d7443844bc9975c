// Time of a matrix product in tiles (docs/models/kernels.md). The libraries choose among a few tile shapes
// by a heuristic that mostly finds the fastest, so the fastest is taken. Tiles that could not win even with
// full waves are skipped.
#include <algorithm>
#include <cmath>
#include <span>

#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {
namespace {

constexpr double kLargestSplit = 64;
constexpr double kShortestDepth = 64;  // depth of one part of a split product

/// The sizes of a product at one batch, after padding.
struct Sizes {
  double m, n, k, count;
};

/// Rounds the channels of each window position up to a multiple; single channels stay as they are.
double padded(double size, double window, double multiple) {
  if (size < window) return size;
  return std::ceil(size / window / multiple) * multiple * window;
}

/// Returns the sizes that are computed. Tensor cores take their operands in groups of 16 bytes, so channels
/// (of each window position) are padded to that.
Sizes sizes_of(const Product& product, double batch, const ProductDevice& device) {
  Sizes s{product.m, product.n, product.k, product.count};
  if (product.grows == Product::Grows::rows) s.m *= batch;
  if (product.grows == Product::Grows::depth) s.k *= batch;
  if (product.grows == Product::Grows::count) s.count *= batch;
  if (device.arithmetic == Arithmetic::cuda_cores) return s;
  const double multiple = 16 / device.element_bytes;
  if (product.grows == Product::Grows::rows) s.k = padded(s.k, product.window, multiple);
  if (product.grows == Product::Grows::depth) s.n = padded(s.n, product.window, multiple);
  return s;
}

/// Returns the efficiency of a tile on CUDA cores. Operands come into the multiprocessor once a tile, and
/// from its shared memory into registers. Each thread computes 8 x 8 results, for which it reads 16 numbers.
/// Both overlap with the arithmetic.
double core_tile_efficiency(double intensity, const ProductDevice& device) {
  constexpr double kSharedBytesPerClock = 128;  // NVIDIA's programming guide: 32 banks of 4 bytes
  constexpr double kThreadIntensity = 8 * 8 / (8. + 8);
  const double bytes = device.element_bytes * device.flops_per_clock / 2;  // a clock, at intensity 1
  const double filling = bytes / intensity / device.costs->operand_bytes_per_clock,
               reading = device.issues_two ? 0 : bytes / kThreadIntensity / kSharedBytesPerClock;
  const double p = device.overlap_power;
  return std::pow(1 + std::pow(filling, p) + std::pow(reading, p), -1 / p);
}

/// Returns the efficiency of a tile: the operands that it loads grow with its edges, its work with its area.
/// On tensor cores, time for loading is added to time for arithmetic.
double tile_efficiency(const Tile& tile, const ProductDevice& device) {
  const double intensity = tile.m * tile.n / (tile.m + tile.n);
  if (device.is_simt) return core_tile_efficiency(intensity, device);
  return intensity /
         (intensity + device.costs->operand_loading * device.flops_per_clock * device.element_bytes / 256);
}

/// A product cut into tiles of one shape; `split` parts of its depth run as units of their own.
struct Tiling {
  double tiles = 0, unit_flops_per_depth = 0, rate = 0;
  Tiling(const Tile& tile, const Sizes& s, const ProductDevice& device)
      : tiles(std::ceil(s.m / tile.m) * std::ceil(s.n / tile.n) * s.count),
        unit_flops_per_depth(2 * tile.m * tile.n),
        rate(device.flops_per_s * tile_efficiency(tile, device)) {}
};

double prologue_of(const ProductDevice& device) {
  return device.is_simt ? device.costs->core_prologue_depth : device.costs->prologue_depth;
}

/// Returns the seconds with the depth cut into `split` parts: whole waves, and traffic of the partial sums.
double seconds_with(const Tiling& tiling, double split, const Sizes& s, const ProductDevice& device) {
  const double waves = std::ceil(tiling.tiles * split / device.multiprocessors);
  const double partial_sums = split > 1 ? 8 * s.m * s.n * s.count * split / device.bytes_per_s : 0;
  return waves * tiling.unit_flops_per_depth * (s.k / split + prologue_of(device)) / tiling.rate +
         partial_sums;
}

/// Returns the time if no wave were partly empty: neither this split nor a larger one can be faster.
double least_seconds(const Tiling& tiling, double split, const Sizes& s, const ProductDevice& device) {
  const double depth = s.k + split * prologue_of(device);
  return tiling.tiles * tiling.unit_flops_per_depth * depth / (tiling.rate * device.multiprocessors);
}

std::span<const Tile> tiles_of(const Sizes& s, const ProductDevice& device) {
  if (device.is_convolution) return device.tiles.convolution;
  return s.count > 1 ? device.tiles.batched : device.tiles.single;
}

/// Returns the largest split. On CUDA cores the libraries' kernels for batched products, and for convolutions
/// over positions, do not split.
double largest_split(const Product& product, const Sizes& s, const ProductDevice& device) {
  const bool whole = s.count > 1 || (device.is_convolution && product.grows != Product::Grows::depth);
  return device.is_simt && whole ? 1 : kLargestSplit;
}

}  // namespace

double product_seconds(const Product& product, double batch, const ProductDevice& device) {
  const Sizes s = sizes_of(product, batch, device);
  if (!(s.m * s.n * s.k * s.count > 0)) return 0;
  double best = INFINITY;
  const double most = largest_split(product, s, device);
  for (const Tile& tile : tiles_of(s, device)) {
    const Tiling tiling(tile, s, device);
    for (double split = 1; split <= most && (split == 1 || s.k / split >= kShortestDepth); split *= 2) {
      if (least_seconds(tiling, split, s, device) >= best) break;
      best = std::min(best, seconds_with(tiling, split, s, device));
    }
  }
  return best * product.serial;
}

}  // namespace foretrain
