// The table of families. Fitted rows and their sources: docs/models/kernel_time.md.
#include "sim/workload/device/kernel_calibration.hpp"

namespace foretrain {
namespace {

struct FamilyConstants {
  ComputeEfficiency conv, gemm, attention;  // {CUDA cores, TF32, 16 bit, fp8}
  double operand_loading;
};

constexpr FamilyConstants kKepler{{0.53, 0, 0, 0}, {0.96, 0, 0, 0}, {0.83, 0, 0, 0}, 1.6};
constexpr FamilyConstants kPascal{{0.73, 0, 0, 0}, {0.96, 0, 0, 0}, {0.83, 0, 0, 0}, 1.6};
constexpr FamilyConstants kVolta{{0.94, 0, 0.72, 0}, {1.00, 0, 0.89, 0}, {0.93, 0, 0.54, 0}, 1.6};
constexpr FamilyConstants kTuring{{0.86, 0, 0.74, 0}, {0.95, 0, 0.86, 0}, {0.82, 0, 0.52, 0}, 1.6};
constexpr FamilyConstants kAmpere{{0.78, 0.46, 0.68, 0}, {0.95, 0.89, 1.00, 0}, {0.82, 0.68, 0.60, 0}, 1.6};
constexpr FamilyConstants kWorkstationAmpere{{0.78, 0.65, 0.88, 0}, {0.95, 0.59, 0.94, 0}, {0.82, 0.45, 0.57, 0}, 1.6};
constexpr FamilyConstants kAda{{0.78, 0.50, 0.78, 0.70}, {0.95, 0.62, 0.80, 0.72}, {0.82, 0.48, 0.48, 0.43}, 1.6};
constexpr FamilyConstants kHopper{{0.78, 0.47, 0.66, 0.59}, {0.95, 0.67, 0.99, 0.90}, {0.82, 0.52, 0.60, 0.54}, 0.7};
constexpr FamilyConstants kBlackwell{{0.78, 0.48, 0.72, 0.64}, {0.95, 0.63, 0.99, 0.89}, {0.82, 0.48, 0.59, 0.53}, 0.4};

const FamilyConstants& family_of(const Gpu& gpu) {
  switch (gpu.architecture) {
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
  calibration.launch_gap = microseconds(1);
  calibration.minimum = microseconds(2);
  calibration.serial_step = microseconds(2);
  return calibration;
}

}  // namespace foretrain
