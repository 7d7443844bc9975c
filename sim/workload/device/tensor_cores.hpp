// What a multiprocessor's tensor cores do with large products of 16 and 8 bit beside the data sheet's rate:
// facts of an architecture and of its libraries.
#pragma once

#include <span>

#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/library_tiles.hpp"

namespace foretrain {

/// Constants of a generation's tensor cores: the sustained share of the data sheet's rate, instruction
/// shapes, and what its kernels overlap.
struct TensorCores {
  double sustained_half = 1;  ///< best product that anybody measured / data sheet: power and clock
  double sustained_fp8 = 1;
  /// Of results that one instruction makes of operands in shared memory; 0: operands pass registers
  double instruction_rows = 0;
  double older_share = 1;  ///< rate of the instructions of Ampere / data sheet, where kernels still use them
  /// Of attention whose scores are worked on beside the products: wider results leave no registers for a
  /// second block of them
  double widest_overlapped_head = 0;
  bool is_persistent = false;  ///< blocks stay and take tile after tile: their pipeline is filled once
  bool is_paired = false;      ///< two multiprocessors share a large tile
  double prologue_clocks = 0;  ///< from a block's start to its first multiplication, and from its last on
  std::span<const Tile> tiles;
};

/// An operand of 4 bit with its share of a scale of 8 bit for 16 of them (NVFP4).
inline constexpr double kFp4Bytes = 0.5 + 1.0 / 16;
/// Dense products of NVFP4; 0 where there are none.
FlopRate fp4_rate(const Gpu& gpu);

/// Null where nobody has measured single kernels of 16 bit: kernel_time's constants hold there.
const TensorCores* tensor_cores_of(const Gpu& gpu);

}  // namespace foretrain
