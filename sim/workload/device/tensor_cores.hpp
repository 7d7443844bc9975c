// Facts of an architecture's tensor cores and of its libraries, for large products of 16 and 8 bit, beside
// the data sheet's rate.
#pragma once

#include <span>

#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/library_tiles.hpp"

namespace foretrain {

/// Constants of a generation's tensor cores: the sustained share of the data sheet's rate, instruction
/// shapes, and the work that its kernels overlap.
struct TensorCores {
  double sustained_half = 1;  ///< best product that anybody measured / data sheet: power and clock
  double sustained_fp8 = 1;
  /// Rows of results that one instruction makes of operands in shared memory; 0: operands pass registers.
  double instruction_rows = 0;
  double older_share = 1;  ///< rate of the instructions of Ampere / data sheet, where kernels still use them
  /// Largest head of attention whose scores are worked on beside the products. Wider results leave no
  /// registers for a second block of scores.
  double widest_overlapped_head = 0;
  bool is_persistent = false;  ///< blocks stay and take tile after tile: their pipeline is filled once
  bool is_paired = false;      ///< two multiprocessors share a large tile
  double prologue_clocks = 0;  ///< from a block's start to its first multiplication, and behind its last one
  std::span<const Tile> tiles;
};

/// Bytes of a 4-bit operand with its share of a scale of 8 bit for 16 of them (NVFP4).
inline constexpr double kFp4Bytes = 0.5 + 1.0 / 16;
/// Returns the rate of dense products of NVFP4; 0 where there are none.
FlopRate fp4_rate(const Gpu& gpu);

/// Returns nullptr where nobody has measured single kernels of 16 bit: kernel_time's constants hold there.
const TensorCores* tensor_cores_of(const Gpu& gpu);

}  // namespace foretrain
