// Kernels of a transformer layer by plain sizes. On tensor cores whose kernels were measured they take their
// own formula, elsewhere that of kernel_time.
#include "sim/workload/device/transformer_kernels.hpp"

#include <algorithm>

#include "sim/workload/device/arithmetic.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/tensor_product_time.hpp"
#include "sim/workload/device/traffic_time.hpp"

namespace foretrain {
namespace {

double size_of(std::int64_t value) { return static_cast<double>(value); }

Precision run_precision(KernelPrecision precision) {
  if (is_narrow(precision)) return Precision::fp8;
  return precision == KernelPrecision::fp16 ? Precision::amp_fp16 : Precision::bf16;
}

/// Returns the bytes of an operand. Types that a GPU has no unit for run in the next wider one.
double operand_bytes(KernelPrecision precision, const Gpu& gpu) {
  if (precision == KernelPrecision::fp4 && fp4_rate(gpu).per_second > 0) return kFp4Bytes;
  return is_narrow(precision) && gpu.fp8.per_second > 0 ? 1 : 2;
}

/// Returns the time of the product as a layer's operator, whose bytes count fp32 elements.
double product_operator_seconds(const TensorProduct& p, KernelPrecision precision, const Gpu& gpu,
                                const KernelCalibration& calibration) {
  Product product;
  product.m = p.m, product.n = p.n, product.k = p.k, product.count = p.count;
  product.grows = Product::Grows::nothing;
  product.bytes = {4 * p.count * (p.m * p.k + p.k * p.n + p.m * p.n), 0};
  Operator op;
  op.cls = OperatorClass::gemm, op.call = HostCall::linear;
  op.flops = {product.flops_per_sample(), 0}, op.bytes = product.bytes;
  KernelContext context{gpu, calibration, run_precision(precision)};
  context.half_weights = true;  // operands lie there in that precision: nothing is cast
  return kernel_seconds(op.with(product), context, 1);
}

Product plain_product(double m, double n, double k, double count) {
  Product product;
  product.m = m, product.n = n, product.k = k, product.count = count;
  product.grows = Product::Grows::nothing;
  return product;
}

/// Returns the time of attention on other GPUs, by the operator that a layer records
/// (sim/workload/layers/scaled_dot_product.cpp).
double attention_operator_seconds(const FlashAttention& a, KernelPrecision precision, const Gpu& gpu,
                                  const KernelCalibration& calibration) {
  const double queries = size_of(a.query_length), keys = size_of(a.key_length), width = size_of(a.head_dim);
  const double count = flash_attention_flops(a) / (4 * queries * keys * width);
  const AttentionTraffic traffic = traffic_of(a);
  const double bytes = 2 * (traffic.beside + traffic.apart);  // operators count fp32
  Product scores = plain_product(queries, keys, width, count),
          result = plain_product(queries, width, keys, count);
  scores.bytes = result.bytes = {bytes / 2, 0};
  Operator op;
  op.cls = OperatorClass::attention, op.call = HostCall::fused_attention, op.backward = a.backward;
  op.kernels = a.backward ? 2 : 1;
  op.flops = {flash_attention_flops(a), 0}, op.bytes = {bytes, 0};
  KernelContext context{gpu, calibration,
                        precision == KernelPrecision::fp16 ? Precision::amp_fp16 : Precision::bf16};
  context.half_weights = true;  // operands lie there in that precision: nothing is cast
  return kernel_seconds(op.with(scores).with(result), context, 1);
}

/// Returns the seconds to read bytes at the rate of products' operands, or from the cache where it holds
/// them.
double cached_seconds(double bytes, const Gpu& gpu, const KernelCalibration& calibration) {
  const double streamed = bytes / achieved_bandwidth(gpu);
  return product_memory_seconds(bytes, gpu) * memory_seconds(bytes, gpu, calibration) / streamed;
}

}  // namespace

double gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                    KernelPrecision precision, const Gpu& gpu, const KernelCalibration& calibration) {
  if (std::min({m, n, k, count}) < 1) return 0;
  const TensorProduct product{size_of(m), size_of(n), size_of(k), size_of(count),
                              operand_bytes(precision, gpu)};
  const TensorCores* cores = tensor_cores_of(gpu);
  const double time = cores ? tensor_product_seconds(product, gpu, *cores, calibration)
                            : product_operator_seconds(product, precision, gpu, calibration);
  return time * calibration.time_scale;
}

double flash_attention_seconds(const FlashAttention& a, KernelPrecision precision, const Gpu& gpu,
                               const KernelCalibration& calibration) {
  if (flash_attention_flops(a) <= 0) return 0;
  const TensorCores* cores = tensor_cores_of(gpu);
  const double time = cores ? fused_attention_seconds(a, gpu, *cores, calibration)
                            : attention_operator_seconds(a, precision, gpu, calibration);
  return time * calibration.time_scale;
}

double fp8_scaling_seconds(std::int64_t elements, const Gpu& gpu, const KernelCalibration& calibration) {
  if (elements < 1) return 0;
  // Identified by the fp8 products of H100: the loops over elements, whatever memory gives.
  constexpr double kElementsPerClock = 5.3;
  constexpr int kKernels = 3;  // a zero for the largest value, its search, the conversion
  const double count = size_of(elements);
  const double loops =
      count / (kElementsPerClock * std::max(1, gpu.sm_count) * clock_rate(gpu) * gpu.sustained_clock);
  const double memory = cached_seconds(2 * count, gpu, calibration) +  // read
                        cached_seconds(3 * count, gpu, calibration);   // read, and written
  return (fixed_seconds(kKernels, calibration) + memory + loops) * calibration.time_scale;
}

}  // namespace foretrain
