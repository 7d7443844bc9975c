// The table of families: efficiencies of large kernels by architecture. Fitted rows and their sources:
// docs/models/kernels.md.
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {
namespace {

/// The constants that differ between families.
struct FamilyConstants {
  ComputeEfficiency conv, gemm, attention;  // {CUDA cores, TF32, 16 bit, fp8}
  double operand_loading;
};

/// CUDA cores since Pascal reach their peak, except for the losses in product_time and convolution_time.
constexpr double kCores = 1;
/// Pascal's cores also do the index arithmetic of a convolution, for which later ones have integer cores. The
/// value is identified by training rates of P100, after its kernels had been seen
/// (docs/models/kernels.md).
constexpr double kCoresWithIndices = 0.80;

constexpr FamilyConstants kCpu{{0.50, 0, 0, 0}, {0.70, 0, 0, 0}, {0.50, 0, 0, 0}, 1.3};  // assumed
constexpr FamilyConstants kKepler{{0.58, 0, 0, 0}, {0.95, 0, 0, 0}, {0.80, 0, 0, 0}, 1.3};
constexpr FamilyConstants kPascal{{kCoresWithIndices, 0, 0, 0}, {kCores, 0, 0, 0}, {kCores, 0, 0, 0}, 1.3};
constexpr FamilyConstants kVolta{{kCores, 0, 0.63, 0}, {kCores, 0, 0.89, 0}, {kCores, 0, 0.57, 0}, 1.3};
constexpr FamilyConstants kTuring{{kCores, 0, 0.69, 0}, {kCores, 0, 0.86, 0}, {kCores, 0, 0.55, 0}, 1.3};
constexpr FamilyConstants kAmpere{
    {kCores, 0.41, 0.60, 0}, {kCores, 0.90, 1.00, 0}, {kCores, 0.76, 0.64, 0}, 1.3};
constexpr FamilyConstants kWorkstationAmpere{
    {kCores, 0.62, 0.83, 0}, {kCores, 0.56, 0.78, 0}, {kCores, 0.48, 0.50, 0}, 1.3};
constexpr FamilyConstants kAda{
    {kCores, 0.46, 0.71, 0.64}, {kCores, 0.60, 0.77, 0.69}, {kCores, 0.51, 0.49, 0.44}, 1.3};
constexpr FamilyConstants kHopper{
    {kCores, 0.45, 0.65, 0.58}, {kCores, 0.65, 0.99, 0.89}, {kCores, 0.55, 0.63, 0.57}, 0.6};
constexpr FamilyConstants kBlackwell{
    {kCores, 0.45, 0.66, 0.59}, {kCores, 0.61, 0.96, 0.87}, {kCores, 0.52, 0.62, 0.56}, 0.3};
// AMD's families are assumed: there are no training rows. Matrix products of 16 bit reach the share of the
// peak that AMD measured (MI300X: 708 of 1307 TFLOP/s, "max-achievable FLOPS" of the ROCm blogs) over what
// loading tiles leaves, 0.80. The other classes have the same ratio to them as on Ampere.
constexpr FamilyConstants kCdna{
    {0.52, 0.28, 0.41, 0.37}, {0.64, 0.61, 0.68, 0.61}, {0.54, 0.52, 0.44, 0.39}, 1.3};

const FamilyConstants& family_of(const Gpu& gpu) {
  switch (gpu.architecture) {
    case Architecture::cpu:
      return kCpu;
    case Architecture::kepler:
      return kKepler;
    case Architecture::pascal:
      return kPascal;
    case Architecture::volta:
      return kVolta;
    case Architecture::turing:
      return kTuring;
    case Architecture::ampere:
      return gpu.compute_capability > 8.05 ? kWorkstationAmpere : kAmpere;
    case Architecture::cdna:
    case Architecture::cdna2:
    case Architecture::cdna3:
      return kCdna;
    case Architecture::ada:
      return kAda;
    case Architecture::hopper:
      return kHopper;
    case Architecture::blackwell:
      return kBlackwell;
  }
  return kVolta;
}

}  // namespace

KernelCalibration default_kernel_calibration(const Gpu& gpu) {
  const FamilyConstants& family = family_of(gpu);
  KernelCalibration calibration;
  calibration.conv = family.conv, calibration.gemm = family.gemm, calibration.attention = family.attention;
  calibration.product.operand_loading = family.operand_loading;
  if (gpu.architecture == Architecture::cpu) return calibration;  // a function call, which the host time has
  calibration.launch_gap = microseconds(1);
  calibration.minimum = microseconds(2);
  calibration.serial_step = microseconds(2);
  return calibration;
}

/// The first libraries for Hopper kept its tensor cores less busy. 0.87 of today's rate is from the steps of
/// nanotron on one and two nodes, whose PyTorch 2.1 has CUDA 12.1; pytorch/pytorch#100850 measures 543 to
/// 772 TFLOP/s with cuBLAS 11.11 and 12.0 where 760 to 797 are reached with 12.8.
KernelCalibration with_library(KernelCalibration calibration, const Gpu& gpu, const FrameworkVersion& cuda) {
  constexpr FrameworkVersion kTuned{12, 3};
  constexpr double kEarlyShare = 0.87;
  const bool is_early = cuda.major > 0 && cuda < kTuned;
  if (is_early && gpu.architecture == Architecture::hopper) calibration.gemm.half *= kEarlyShare;
  return calibration;
}

}  // namespace foretrain
