// Choice of arithmetic units. The libraries choose: cuDNN and cuBLAS take tensor cores when the data type and
// the GPU allow it.
#include "sim/workload/device/arithmetic.hpp"

#include <algorithm>

namespace foretrain {
namespace {

bool is_matrix(OperatorClass cls) {
  return cls == OperatorClass::conv || cls == OperatorClass::gemm || cls == OperatorClass::attention;
}

/// Returns the data sheet's 16-bit rate for the type that the precision computes in.
FlopRate half_rate(const Gpu& gpu, Precision precision) {
  if (!is_half(precision)) return std::max(gpu.fp16, gpu.bf16);  // of operators that always are
  return precision == Precision::amp_fp16 ? gpu.fp16 : gpu.bf16;
}

bool runs_in_half(const Operator& op, Precision precision) {
  if (op.width != ElementWidth::by_precision) return op.width == ElementWidth::half;
  return is_half(precision) && op.half_capable;
}

}  // namespace

bool has_tensor_cores(Architecture architecture) { return architecture >= Architecture::volta; }

Arithmetic arithmetic_of(const Operator& op, const Gpu& gpu, Precision precision,
                         const Framework& framework) {
  if (op.cls == OperatorClass::depthwise_conv) return Arithmetic::cuda_cores;
  if (!is_matrix(op.cls)) return Arithmetic::none;
  if (precision == Precision::fp8 && op.cls == OperatorClass::gemm && gpu.fp8.per_second > 0)
    return Arithmetic::fp8;
  if (runs_in_half(op, precision)) {
    return has_tensor_cores(gpu.architecture) && half_rate(gpu, precision) > gpu.fp32
               ? Arithmetic::half
               : Arithmetic::cuda_cores;
  }
  // cuDNN convolves fp32 data in TF32 by default, whatever the framework does for products.
  const bool tf32 =
      precision == Precision::tf32 || op.cls == OperatorClass::conv || products_default_to_tf32(framework);
  return tf32 && gpu.tf32 > gpu.fp32 ? Arithmetic::tf32 : Arithmetic::cuda_cores;
}

namespace {

FlopRate data_sheet_rate(const Operator& op, const Gpu& gpu, Precision precision,
                         const Framework& framework) {
  switch (arithmetic_of(op, gpu, precision, framework)) {
    case Arithmetic::none:
      return {};
    case Arithmetic::tf32:
      return gpu.tf32;
    case Arithmetic::half:
      return half_rate(gpu, precision);
    case Arithmetic::fp8:
      return gpu.fp8;
    case Arithmetic::cuda_cores:
      break;
  }
  const bool fast_half = runs_in_half(op, precision) && op.cls != OperatorClass::depthwise_conv &&
                         half_rate(gpu, precision) > gpu.fp32;
  return fast_half ? half_rate(gpu, precision) : gpu.fp32;
}

}  // namespace

FlopRate peak_rate(const Operator& op, const Gpu& gpu, Precision precision, const Framework& framework) {
  return {data_sheet_rate(op, gpu, precision, framework).per_second * gpu.sustained_clock};
}

namespace {

/// fp32 cores of a multiprocessor (NVIDIA's programming guide, table of throughputs). Each does a
/// multiplication and an addition in a clock.
constexpr double kUsualCores = 128, kKeplerCores = 192, kFewCores = 64;
constexpr double kFlopsPerCore = 2;
constexpr double kUnknownClock = 1e9;  ///< clock of a GPU without a peak; assumed

}  // namespace

double clock_rate(const Gpu& gpu) {
  double cores = kUsualCores;
  if (gpu.architecture == Architecture::kepler) cores = kKeplerCores;
  // Multiprocessors with 64 fp32 cores: Volta, Turing, P100 (6.0) and A100 (8.0).
  const bool has_64 = gpu.architecture == Architecture::volta || gpu.architecture == Architecture::turing ||
                      gpu.compute_capability == 6.0 || gpu.compute_capability == 8.0;
  if (has_64) cores = kFewCores;
  const double rate = gpu.fp32.per_second / (std::max(1, gpu.sm_count) * cores * kFlopsPerCore);
  return rate > 0 ? rate : kUnknownClock;
}

double element_share(const Operator& op, Precision precision) {
  return runs_in_half(op, precision) ? 0.5 : 1;
}

}  // namespace foretrain
