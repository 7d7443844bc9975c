// Tile shapes that the libraries have for a matrix product: facts of cuBLAS and cuDNN, by architecture.
#pragma once

#include <span>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Rows and columns of the result that one block of threads computes. cuBLAS stores columns first, so its
/// kernel "sgemm_32x128" is {128, 32} here.
struct Tile {
  double m, n;
};

/// The tile shapes that a generation's GEMM libraries have kernels for. Widths and heights are in elements of
/// the result.
struct LibraryTiles {
  std::span<const Tile> single;       ///< one product
  std::span<const Tile> batched;      ///< many in one launch: the libraries have fewer kernels for them
  std::span<const Tile> convolution;  ///< implicit GEMM: wide in one direction at least
};

/// Returns the tiles of products on tensor cores, and of GPUs whose kernels nobody has listed.
LibraryTiles usual_tiles();
/// Returns the tiles of products on CUDA cores.
LibraryTiles core_tiles(const Gpu& gpu);

}  // namespace foretrain
