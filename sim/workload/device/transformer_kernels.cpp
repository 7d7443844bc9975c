// Plain sizes become the operators that a layer of that size would run; their time is kernel_time's.
#include "sim/workload/device/transformer_kernels.hpp"

#include <algorithm>

#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {
namespace {

double number(std::int64_t value) { return static_cast<double>(value); }

Precision precision_of(KernelPrecision precision) {
  if (precision == KernelPrecision::fp8) return Precision::fp8;
  return precision == KernelPrecision::fp16 ? Precision::amp_fp16 : Precision::bf16;
}

/// Operators count bytes of fp32 elements.
Product product_of(double m, double n, double k, double count) {
  Product product;
  product.m = m, product.n = n, product.k = k, product.count = count;
  product.grows = Product::Grows::nothing;
  product.bytes = {4 * count * (m * k + k * n + m * n), 0};
  return product;
}

double seconds_of(Operator op, KernelPrecision precision, const Gpu& gpu,
                  const KernelCalibration& calibration) {
  KernelContext context{gpu, calibration, precision_of(precision)};
  context.half_weights = true;  // operands lie there in that precision: nothing is cast
  return kernel_seconds(op, context, 1);
}

bool is_empty(const FlashAttention& a) {
  return std::min({a.batch, a.query_length, a.key_length, a.heads, a.kv_heads, a.head_dim}) < 1;
}

/// Of all pairs of a query and a key, those that the mask leaves.
double seen_share(const FlashAttention& a) {
  if (!a.causal) return 1;
  const double queries = number(a.query_length), keys = number(a.key_length);
  if (queries > keys) return (keys + 1) / (2 * queries);
  return (keys - (queries - 1) / 2) / keys;
}

constexpr double kBackwardFlops = 2.5;  ///< scores again, then four products where forward has two

}  // namespace

double gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                    KernelPrecision precision, const Gpu& gpu, const KernelCalibration& calibration) {
  if (std::min({m, n, k, count}) < 1) return 0;
  const Product product = product_of(number(m), number(n), number(k), number(count));
  Operator op;
  op.cls = OperatorClass::gemm, op.call = HostCall::linear;
  op.flops = {product.flops_per_sample(), 0}, op.bytes = product.bytes;
  return seconds_of(op.with(product), precision, gpu, calibration);
}

double flash_attention_flops(const FlashAttention& a) {
  if (is_empty(a)) return 0;
  const double pairs = number(a.batch) * number(a.heads) * number(a.query_length) * number(a.key_length);
  return (a.backward ? kBackwardFlops : 1) * 4 * pairs * number(a.head_dim) * seen_share(a);
}

double flash_attention_seconds(const FlashAttention& a, KernelPrecision precision, const Gpu& gpu,
                               const KernelCalibration& calibration) {
  if (is_empty(a)) return 0;
  const double count = number(a.batch) * number(a.heads) * seen_share(a) * (a.backward ? kBackwardFlops : 1);
  const double queries = number(a.query_length), keys = number(a.key_length), width = number(a.head_dim);
  const double rows =
      number(a.batch) * width * (2 * number(a.heads) * queries + 2 * number(a.kv_heads) * keys);
  Product scores = product_of(queries, keys, width, count), context = product_of(queries, width, keys, count);
  scores.bytes = context.bytes = {4 * rows / 2 * (a.backward ? 2 : 1), 0};
  Operator op;
  op.cls = OperatorClass::attention, op.call = HostCall::fused_attention, op.backward = a.backward;
  op.kernels = a.backward ? 2 : 1;
  op.flops = {flash_attention_flops(a), 0}, op.bytes = {4 * rows * (a.backward ? 2 : 1), 0};
  return seconds_of(op.with(scores).with(context), precision, gpu, calibration);
}

}  // namespace foretrain
