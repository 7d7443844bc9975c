// Tables of tile shapes, from the names of the kernels that PyTorch 2.1 ran on six GPUs
// (docs/measured/kernels.csv, column kernel). Only names were used, no times.
#include "sim/workload/device/library_tiles.hpp"

#include <array>

namespace foretrain {
namespace {

/// The first seven are those of convolutions.
constexpr std::array<Tile, 9> kUsual{
    {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {128, 32}, {32, 128}, {64, 64}, {32, 32}}};
constexpr std::size_t kUsualConvolution = 7;

constexpr std::array<Tile, 3> kPascalSingle{{{128, 32}, {64, 64}, {32, 128}}};
constexpr std::array<Tile, 1> kPascalBatched{{{64, 128}}};
constexpr std::array<Tile, 6> kVoltaSingle{{{64, 128}, {128, 128}, {128, 32}, {32, 128}, {32, 64}, {32, 32}}};
constexpr std::array<Tile, 3> kVoltaBatched{{{64, 64}, {128, 32}, {32, 128}}};
constexpr std::array<Tile, 7> kTuringSingle{
    {{64, 128}, {128, 128}, {64, 64}, {128, 32}, {32, 128}, {32, 64}, {32, 32}}};
constexpr std::array<Tile, 3> kTuringBatched{{{64, 128}, {64, 64}, {32, 128}}};
constexpr std::array<Tile, 7> kAmpereSingle{
    {{128, 128}, {64, 128}, {64, 64}, {128, 32}, {32, 128}, {32, 64}, {32, 32}}};
constexpr std::array<Tile, 1> kAmpereBatched{{{128, 128}}};
constexpr std::array<Tile, 13> kHopperTiles{{{256, 128},
                                             {128, 256},
                                             {256, 64},
                                             {64, 256},
                                             {128, 128},
                                             {128, 64},
                                             {64, 128},
                                             {128, 32},
                                             {32, 128},
                                             {64, 64},
                                             {64, 32},
                                             {32, 64},
                                             {32, 32}}};
/// Tiles of cuDNN's scudnn kernels, in both orientations.
constexpr std::array<Tile, 5> kConvolution{{{128, 128}, {128, 64}, {64, 128}, {128, 32}, {32, 128}}};

}  // namespace

LibraryTiles usual_tiles() { return {kUsual, kUsual, std::span(kUsual).first(kUsualConvolution)}; }

LibraryTiles core_tiles(const Gpu& gpu) {
  switch (gpu.architecture) {
    case Architecture::pascal:
      return {kPascalSingle, kPascalBatched, kConvolution};
    case Architecture::volta:
      return {kVoltaSingle, kVoltaBatched, kConvolution};
    case Architecture::turing:
      return {kTuringSingle, kTuringBatched, kConvolution};
    case Architecture::ampere:
    case Architecture::ada:  // runs Ampere's
      return {kAmpereSingle, kAmpereBatched, kConvolution};
    case Architecture::hopper:
    case Architecture::blackwell:  // assumed
      return {kHopperTiles, kHopperTiles, kConvolution};
    case Architecture::cpu:
    case Architecture::kepler:
    case Architecture::cdna:
    case Architecture::cdna2:
    case Architecture::cdna3:
      break;
  }
  return usual_tiles();
}

}  // namespace foretrain
