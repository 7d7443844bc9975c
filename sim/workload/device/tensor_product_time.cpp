// Time of a product on tensor cores: the fastest of the library's tiles and splits.
//
// Tiles times waves gives the time of a product at full rate. Split-k divides the depth among blocks when
// there are fewer tiles than multiprocessors, and pays for it with a second pass over the result. Since
// Hopper, operands come to the tensor cores from shared memory, and persistent blocks fill their pipeline
// once.
#include "sim/workload/device/tensor_product_time.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/device/arithmetic.hpp"
#include "sim/workload/device/traffic_time.hpp"

namespace foretrain {
namespace {

constexpr double kSharedBytesPerClock = 128;  ///< NVIDIA's programming guide: 32 banks of 4 bytes
constexpr double kTensorSplits[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64};
constexpr double kShortestTensorDepth = 128;  ///< depth of one part of a split product
constexpr double kPartialSumBytes = 8;        ///< written and read, fp32
constexpr double kSmallestPair = 128 * 128;   ///< results of a multiprocessor from which two share a tile

/// Share of the memory bandwidth that streams reach which almost only read, as products of few rows do.
/// Identified by those of A100 and H100.
constexpr double kReadShare = 0.82;
constexpr double kMemoryLatency = 2e-6;

double tile_intensity(double rows, double columns) { return rows * columns / (rows + columns); }

/// Returns the intensity of one instruction, which has its rows in either direction and as many columns as
/// the tile.
double instruction_intensity(const Tile& tile, double rows) {
  const double upright = tile.m >= rows ? tile_intensity(rows, tile.n) : 0,
               turned = tile.n >= rows ? tile_intensity(rows, tile.m) : 0;
  return std::max(upright, turned);
}

/// The device as products of one element size use it; references must outlive it.
struct ProductMachine {
  const Gpu& gpu;
  const TensorCores& cores;
  const KernelCalibration& calibration;
  TensorRate rate;
  double bytes_per_clock;
  double least_loss;  ///< loss of the best tile, which the sustained share contains already

  ProductMachine(const Gpu& g, const TensorCores& c, const KernelCalibration& k, double element_bytes)
      : gpu(g),
        cores(c),
        calibration(k),
        rate(tensor_rate(g, c, element_bytes, k)),
        bytes_per_clock(rate.flops_per_clock * element_bytes / 2),
        least_loss(INFINITY) {
    for (const Tile& tile : c.tiles) least_loss = std::min(least_loss, loss(tile));
  }
  double loss(const Tile& tile) const { return operand_loss(tile, cores, bytes_per_clock, calibration); }
  /// Returns the clocks of one tile, per unit of depth.
  double clocks(const Tile& tile) const {
    return 2 * tile.m * tile.n / (rate.flops_per_clock * rate.share) * loss(tile) / least_loss;
  }
};

/// Returns the number of tiles of a product; where two multiprocessors share a large tile, both halves count.
double tiles_in(const TensorProduct& p, const Tile& tile, const TensorCores& cores) {
  const bool is_pair = cores.is_paired && tile.m * tile.n >= kSmallestPair;
  const bool is_upright = tile.m >= tile.n || tile.m >= cores.instruction_rows;
  const double rows = tile.m * (is_pair && is_upright ? 2 : 1),
               columns = tile.n * (is_pair && !is_upright ? 2 : 1);
  return std::ceil(p.m / rows) * std::ceil(p.n / columns) * (is_pair ? 2 : 1) * p.count;
}

/// Returns the seconds to add up the parts of a split depth: one more kernel, whose traffic the cache serves.
double partial_sum_seconds(const TensorProduct& p, double split, const ProductMachine& machine) {
  if (split <= 1) return 0;
  const double bytes = kPartialSumBytes * p.m * p.n * p.count * split;
  return product_memory_seconds(bytes, machine.gpu) / machine.calibration.cache_speed +
         to_seconds(machine.calibration.launch_gap);
}

double tiled_seconds(const TensorProduct& p, const Tile& tile, double split, const ProductMachine& machine) {
  const double waves =
      std::ceil(tiles_in(p, tile, machine.cores) * split / std::max(1, machine.gpu.sm_count));
  const double prologues = (machine.cores.is_persistent ? 1 : waves) * machine.cores.prologue_clocks;
  const double clocks = waves * p.k / split * machine.clocks(tile) + prologues;
  return clocks / machine.rate.clock + partial_sum_seconds(p, split, machine);
}

double least_tiled_seconds(const TensorProduct& p, const ProductMachine& machine) {
  double best = INFINITY;
  for (const Tile& tile : machine.cores.tiles) {
    for (const double split : kTensorSplits) {
      if (split > 1 && p.k / split < kShortestTensorDepth) break;
      best = std::min(best, tiled_seconds(p, tile, split, machine));
    }
  }
  return best;
}

/// Returns the seconds of loads where rows do not begin at multiples of 16 bytes. Threads then load operands
/// in pieces that do, and one multiprocessor takes a fixed number of pieces a clock. It is from six products
/// of GPT-2's and BERT's vocabulary on an H100 (docs/measured/h100): 94 to 146 TFLOP/s for 2-byte pieces, 235
/// to 255 for 4-byte ones. That it holds for A100 and Blackwell, which have the same load units, is assumed.
double unaligned_load_seconds(const TensorProduct& p, const ProductMachine& machine) {
  constexpr double kWholePiece = 16, kPiecesPerClock = 4.2, kTileSide = 128;
  if (p.aligned_bytes >= kWholePiece) return 0;
  const double rows = std::min(p.m, kTileSide), columns = std::min(p.n, kTileSide);
  const double bytes = p.element_bytes * p.m * p.n * p.k * p.count * (1 / rows + 1 / columns);
  const double rate = kPiecesPerClock * p.aligned_bytes * std::max(1, machine.gpu.sm_count);
  return bytes / (rate * machine.rate.clock);
}

double calibrated_ratio(double value, double usual) { return usual > 0 ? value / usual : 1; }

}  // namespace

TensorRate tensor_rate(const Gpu& gpu, const TensorCores& cores, double element_bytes,
                       const KernelCalibration& calibration) {
  const bool is_fp8 = element_bytes < 2 && gpu.fp8.per_second > 0;
  const ComputeEfficiency &own = calibration.gemm, usual = default_kernel_calibration(gpu).gemm;
  const bool is_fp4 = element_bytes < 1 && fp4_rate(gpu).per_second > 0;
  const double peak = is_fp4   ? fp4_rate(gpu).per_second
                      : is_fp8 ? gpu.fp8.per_second
                               : std::max(gpu.fp16.per_second, gpu.bf16.per_second);
  const double calibrated =
      is_fp8 ? calibrated_ratio(own.fp8, usual.fp8) : calibrated_ratio(own.half, usual.half);
  TensorRate rate;
  rate.flops_per_clock = peak / std::max(1, gpu.sm_count) / clock_rate(gpu);
  rate.clock = clock_rate(gpu) * gpu.sustained_clock;
  rate.share = (is_fp8 ? cores.sustained_fp8 : cores.sustained_half) * calibrated;
  return rate;
}

double operand_loss(const Tile& tile, const TensorCores& cores, double bytes_per_clock,
                    const KernelCalibration& calibration) {
  const double reading = bytes_per_clock / kSharedBytesPerClock;
  if (cores.instruction_rows <= 0)
    return 1 + calibration.product.operand_loading * reading / tile_intensity(tile.m, tile.n);
  const double p = calibration.roofline_power;
  const double share = reading / instruction_intensity(tile, cores.instruction_rows);
  return std::pow(1 + std::pow(share, p), 1 / p);
}

double product_memory_seconds(double bytes, const Gpu& gpu) {
  return bytes / (gpu.memory_bandwidth.per_second * kReadShare);
}

double tensor_product_seconds(const TensorProduct& p, const Gpu& gpu, const TensorCores& cores,
                              const KernelCalibration& calibration) {
  if (!(p.m * p.n * p.k * p.count > 0)) return 0;
  constexpr double kResultBytes = 2;
  const ProductMachine machine(gpu, cores, calibration, p.element_bytes);
  const double bytes = p.count * (p.element_bytes * (p.m * p.k + p.k * p.n) + kResultBytes * p.m * p.n);
  const double memory = product_memory_seconds(bytes, gpu) + kMemoryLatency;
  return to_seconds(calibration.launch_gap) +
         overlapped(std::max(least_tiled_seconds(p, machine), unaligned_load_seconds(p, machine)), memory,
                    calibration.roofline_power);
}

}  // namespace foretrain
