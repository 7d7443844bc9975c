// Kernel time by roofline: a fixed part per kernel, then the slower of arithmetic and memory traffic.
//
// The fixed part (ramp up, ramp down, tail) is also what makes small work inefficient: with fixed time t0 and asymptotic
// rate r, work w runs at r w / (w + r t0), the usual half-saturation law, so efficiencies are those of large operators only.
#include "sim/workload/device/kernel_time.hpp"

#include <algorithm>

namespace foretrain {
namespace {

enum class Arithmetic { none, fp32, tf32, half };

bool has_tensor_cores(Architecture architecture) { return architecture != Architecture::kepler && architecture != Architecture::pascal; }

bool is_matrix(OperatorClass cls) { return cls == OperatorClass::conv || cls == OperatorClass::gemm || cls == OperatorClass::attention; }

FlopRate half_rate(const Gpu& gpu, Precision precision) { return precision == Precision::bf16 ? gpu.bf16 : gpu.fp16; }

Arithmetic arithmetic_of(OperatorClass cls, const Gpu& gpu, Precision precision) {
  if (cls == OperatorClass::depthwise_conv) return Arithmetic::fp32;
  if (!is_matrix(cls)) return Arithmetic::none;
  if (is_half(precision)) {
    return has_tensor_cores(gpu.architecture) && half_rate(gpu, precision) > gpu.fp32 ? Arithmetic::half : Arithmetic::fp32;
  }
  const bool tf32 = precision == Precision::tf32 || cls == OperatorClass::conv;
  return tf32 && gpu.tf32 > gpu.fp32 ? Arithmetic::tf32 : Arithmetic::fp32;
}

const ComputeEfficiency& efficiencies_of(OperatorClass cls, const KernelCalibration& calibration) {
  switch (cls) {
    case OperatorClass::conv:
      return calibration.conv;
    case OperatorClass::depthwise_conv:
      return calibration.depthwise_conv;
    case OperatorClass::attention:
      return calibration.attention;
    default:
      return calibration.gemm;
  }
}

double efficiency(const ComputeEfficiency& of, Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::tf32:
      return of.tf32;
    case Arithmetic::half:
      return of.half;
    default:
      return of.fp32;
  }
}

double memory_passes(const Operator& op, const KernelCalibration& calibration) {
  if (op.cls != OperatorClass::normalization) return 1;
  return op.backward ? calibration.normalization_backward_passes : calibration.normalization_forward_passes;
}

double memory_seconds(double bytes, const Gpu& gpu) {
  const double rate = gpu.memory_bandwidth.per_second * gpu.memory_efficiency;
  return bytes > 0 ? bytes / rate : 0;
}

double fixed_seconds(int kernels, const KernelCalibration& calibration) {
  return kernels * to_seconds(calibration.launch_gap + calibration.minimum);
}

struct FamilyEfficiencies {
  ComputeEfficiency conv, gemm, attention;
};

// {CUDA cores, TF32, 16 bit}. Volta and Ampere are fitted, the others follow them: docs/models/kernel_time.md.
constexpr FamilyEfficiencies kKepler{{0.50, 0, 0}, {0.65, 0, 0}, {0.45, 0, 0}};
constexpr FamilyEfficiencies kPascal{{0.70, 0, 0}, {0.85, 0, 0}, {0.60, 0, 0}};
constexpr FamilyEfficiencies kVolta{{0.82, 0, 0.45}, {0.93, 0, 0.65}, {0.65, 0, 0.35}};
constexpr FamilyEfficiencies kAmpere{{0.70, 0.25, 0.42}, {0.90, 0.75, 0.75}, {0.65, 0.40, 0.35}};
constexpr FamilyEfficiencies kAda{{0.60, 0.40, 0.42}, {0.80, 0.75, 0.75}, {0.55, 0.40, 0.35}};
constexpr FamilyEfficiencies kHopper{{0.60, 0.20, 0.30}, {0.80, 0.65, 0.70}, {0.55, 0.30, 0.28}};
constexpr FamilyEfficiencies kBlackwell{{0.55, 0.15, 0.25}, {0.75, 0.60, 0.68}, {0.50, 0.25, 0.25}};

const FamilyEfficiencies& family_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::kepler:
      return kKepler;
    case Architecture::pascal:
      return kPascal;
    case Architecture::volta:
    case Architecture::turing:
      return kVolta;
    case Architecture::ampere:
      return kAmpere;
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

FlopRate peak_rate(OperatorClass cls, const Gpu& gpu, Precision precision) {
  switch (arithmetic_of(cls, gpu, precision)) {
    case Arithmetic::none:
      return {};
    case Arithmetic::tf32:
      return gpu.tf32;
    case Arithmetic::half:
      return half_rate(gpu, precision);
    case Arithmetic::fp32:
      break;
  }
  const bool fast_half = is_half(precision) && cls != OperatorClass::depthwise_conv && half_rate(gpu, precision) > gpu.fp32;
  return fast_half ? half_rate(gpu, precision) : gpu.fp32;
}

KernelCalibration default_kernel_calibration(Architecture architecture) {
  const FamilyEfficiencies& family = family_of(architecture);
  KernelCalibration calibration;
  calibration.conv = family.conv, calibration.gemm = family.gemm, calibration.attention = family.attention;
  calibration.depthwise_conv = {0.15, 0.15, 0.15};
  calibration.launch_gap = microseconds(1);
  calibration.minimum = microseconds(2);
  return calibration;
}

Time kernel_time(const Operator& op, const Gpu& gpu, const KernelCalibration& calibration, Precision precision, std::int64_t batch) {
  const auto samples = static_cast<double>(std::max<std::int64_t>(batch, 0));
  const Precision runs_in = op.half_capable || !is_half(precision) ? precision : Precision::fp32;
  const double bytes = op.bytes.at(samples) * (is_half(runs_in) ? 0.5 : 1) * memory_passes(op, calibration);
  const Arithmetic arithmetic = arithmetic_of(op.cls, gpu, runs_in);
  double compute = 0;
  if (arithmetic != Arithmetic::none && op.flops.at(samples) > 0) {
    const double rate = peak_rate(op.cls, gpu, runs_in).per_second * efficiency(efficiencies_of(op.cls, calibration), arithmetic);
    compute = op.flops.at(samples) / rate;
  }
  const double busy = std::max(compute, memory_seconds(bytes, gpu));
  return seconds((fixed_seconds(op.kernels, calibration) + busy) * calibration.time_scale);
}

Time memory_kernel_time(Bytes bytes, const Gpu& gpu, const KernelCalibration& calibration) {
  return seconds((fixed_seconds(1, calibration) + memory_seconds(static_cast<double>(bytes.count), gpu)) * calibration.time_scale);
}

}  // namespace foretrain
