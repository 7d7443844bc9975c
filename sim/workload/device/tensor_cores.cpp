// Tables of tensor cores by generation. Sources of each figure: docs/models/kernels.md.
#include "sim/workload/device/tensor_cores.hpp"

#include <array>
#include <cmath>

namespace foretrain {
namespace {

// Tiles of kernels whose operands pass registers, as on Ampere.
constexpr std::array<Tile, 17> kTilesOfRegisters{{{256, 128},
                                                  {128, 256},
                                                  {256, 64},
                                                  {64, 256},
                                                  {128, 128},
                                                  {128, 64},
                                                  {64, 128},
                                                  {64, 64},
                                                  {128, 32},
                                                  {32, 128},
                                                  {64, 32},
                                                  {32, 64},
                                                  {128, 16},
                                                  {16, 128},
                                                  {64, 16},
                                                  {16, 64},
                                                  {32, 32}}};
/// Tiles with one side that is a multiple of the 64 rows of Hopper's instruction.
constexpr std::array<Tile, 18> kTilesOf64Rows{{{256, 128},
                                               {128, 256},
                                               {128, 192},
                                               {192, 128},
                                               {256, 64},
                                               {64, 256},
                                               {128, 128},
                                               {128, 64},
                                               {64, 128},
                                               {64, 64},
                                               {128, 32},
                                               {32, 128},
                                               {64, 32},
                                               {32, 64},
                                               {128, 16},
                                               {16, 128},
                                               {64, 16},
                                               {16, 64}}};
/// Tiles with one side that is a multiple of the 128 rows of Blackwell's instruction.
constexpr std::array<Tile, 11> kTilesOf128Rows{{{256, 128},
                                                {128, 256},
                                                {128, 192},
                                                {192, 128},
                                                {128, 128},
                                                {128, 64},
                                                {64, 128},
                                                {128, 32},
                                                {32, 128},
                                                {128, 16},
                                                {16, 128}}};

/// Constants by generation. The best products in bf16 and fp8 reach 271 of 312 TFLOP/s on A100, 795 of 989
/// and 1403 of 1979 on H100, and 1745 of 2250 and 3433 of 4500 on B200 (the MAMF finder of
/// stas00/ml-engineering). Prologues are identified by the products of A100 and H100; Blackwell's is
/// Hopper's.
constexpr TensorCores kAmpereCores{
    .sustained_half = 0.869, .prologue_clocks = 3900, .tiles = std::span<const Tile>(kTilesOfRegisters)};
constexpr TensorCores kHopperCores{.sustained_half = 0.803,
                                   .sustained_fp8 = 0.709,
                                   .instruction_rows = 64,
                                   .older_share = 0.62,
                                   .widest_overlapped_head = 128,
                                   .is_persistent = true,
                                   .prologue_clocks = 1800,
                                   .tiles = std::span<const Tile>(kTilesOf64Rows)};
constexpr TensorCores kBlackwellCores{.sustained_half = 0.776,
                                      .sustained_fp8 = 0.763,
                                      .instruction_rows = 128,
                                      .older_share = 0.31,
                                      .widest_overlapped_head = INFINITY,  // results lie in tensor memory
                                      .is_persistent = true,
                                      .is_paired = true,
                                      .prologue_clocks = 1800,
                                      .tiles = std::span<const Tile>(kTilesOf128Rows)};

constexpr double kDataCentreAmpere = 8.05;  ///< compute capabilities below it
constexpr double kBlackwellUltra = 10.25;   ///< B300 and GB300 have 10.3
/// NVFP4's rate over the dense rate in 8 bit (NVIDIA's data sheets: HGX B200 9 and 4.5 PFLOP/s a GPU, HGX
/// B300 13.5 and 4.5, GB200 10 and 5, GB300 15 and 5).
constexpr double kFp4OfBlackwell = 2, kFp4OfUltra = 3;
constexpr double kDataCentreBlackwell = 11.0;  ///< cards above it have Ampere's instructions

}  // namespace

FlopRate fp4_rate(const Gpu& gpu) {
  if (gpu.architecture != Architecture::blackwell) return {};
  return {gpu.fp8.per_second *
          (gpu.compute_capability >= kBlackwellUltra && gpu.compute_capability < kDataCentreBlackwell
               ? kFp4OfUltra
               : kFp4OfBlackwell)};
}

const TensorCores* tensor_cores_of(const Gpu& gpu) {
  if (gpu.architecture == Architecture::ampere && gpu.compute_capability < kDataCentreAmpere)
    return &kAmpereCores;
  if (gpu.architecture == Architecture::hopper) return &kHopperCores;
  if (gpu.architecture == Architecture::blackwell && gpu.compute_capability < kDataCentreBlackwell)
    return &kBlackwellCores;
  return nullptr;
}

}  // namespace foretrain
