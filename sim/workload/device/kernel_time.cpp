// Time of an operator's kernels: its matrix products plus a remainder that only moves memory, such as bias
// sums, copies and element-wise work.
//
// The model is a roofline with three refinements. Tiles and waves: a matrix product is computed in tiles, one
// for each thread block, and the last wave of blocks may fill the GPU only in part. Efficiency by class and
// arithmetic: a product reaches a share of the data sheet's rate that is fitted for each GPU generation. A
// fixed time for each kernel: ramp-up and ramp-down, which dominate small kernels. With fixed time t0 and
// asymptotic rate r, work w runs at r w / (w + r t0). The host's launch time is not part of it; it belongs to
// the process.
//
// Bytes are counted once for each tensor that a kernel reads or writes. Caches are modelled only where a
// tensor fits entirely (traffic_time.hpp). Times are for a GPU that runs nothing else.
#include "sim/workload/device/kernel_time.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/workload/device/channel_kernels.hpp"
#include "sim/workload/device/convolution_time.hpp"
#include "sim/workload/device/fused_attention_time.hpp"
#include "sim/workload/device/tensor_product_time.hpp"
#include "sim/workload/device/traffic_time.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {
namespace {

const ComputeEfficiency& efficiencies_of(OperatorClass cls, const KernelCalibration& calibration) {
  if (cls == OperatorClass::conv) return calibration.conv;
  return cls == OperatorClass::attention ? calibration.attention : calibration.gemm;
}

/// Returns the fraction of the peak on this arithmetic; `none` takes the one of CUDA cores.
double efficiency(const ComputeEfficiency& of, Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::tf32:
      return of.tf32;
    case Arithmetic::half:
      return of.half;
    case Arithmetic::fp8:
      return of.fp8;
    default:
      return of.fp32;
  }
}

/// Speedup of 3 x 3 convolutions by Winograd's algorithm on CPUs and AMD's GPUs, where the libraries' choice
/// is not modelled; assumed.
constexpr double kOtherWinograd = 2;

bool is_other_winograd(const Operator& op, const Product& product, const Gpu& gpu, Arithmetic arithmetic) {
  constexpr double kFewestChannels = 32;
  const bool is_other = gpu.architecture == Architecture::cpu || is_amd(gpu.architecture);
  if (!is_other || op.cls != OperatorClass::conv || arithmetic != Arithmetic::cuda_cores) return false;
  if (product.window != 9 || product.stride != 1) return false;
  // The gradient of the weights has the input channels times the window in n, not in k.
  const bool for_weights = product.grows == Product::Grows::depth;
  const double out = for_weights ? product.m : product.n,
               in = (for_weights ? product.n : product.k) / product.window;
  return std::min(in, out) >= kFewestChannels;
}

/// Returns the number of passes over the operands and the result of a channels_first convolution. cuDNN needs
/// them to bring the tensors into the layout of its tensor core kernels. Windows of one position mostly run
/// as they are. Measured on an H100, relative to `transpose_passes`: 13 networks, docs/measured/h100. Kernels
/// for TF32 in channels_first were seen to be transposed on Hopper alone.
double transposed_passes(const Operator& op, const Product& product, const KernelContext& context,
                         Arithmetic arithmetic) {
  struct Shares {
    double window, point;
  };
  constexpr Shares kHalf{1, 0.22}, kTf32{0.67, 0.1};
  if (op.cls != OperatorClass::conv || context.framework.layout != ImageLayout::channels_first) return 0;
  const bool is_tf32 = arithmetic == Arithmetic::tf32 && context.gpu.architecture == Architecture::hopper;
  if (arithmetic != Arithmetic::half && !is_tf32) return 0;
  const Shares& shares = is_tf32 ? kTf32 : kHalf;
  return context.calibration.transpose_passes * (product.window > 1 ? shares.window : shares.point);
}

/// Returns the device for one operator: rates at its class's efficiency, tiles, and costs of small products.
ProductDevice device_of(const Operator& op, const KernelContext& context, Arithmetic arithmetic) {
  const double rate = peak_rate(op, context.gpu, context.precision, context.framework).per_second;
  ProductDevice device;
  device.arithmetic = arithmetic;
  device.is_convolution = op.cls == OperatorClass::conv;
  device.multiprocessors = std::max(1, context.gpu.sm_count);
  device.flops_per_s =
      rate * efficiency(efficiencies_of(op.cls, context.calibration), arithmetic) / device.multiprocessors;
  device.flops_per_clock =
      rate / device.multiprocessors / (clock_rate(context.gpu) * context.gpu.sustained_clock);
  device.bytes_per_s = achieved_bandwidth(context.gpu);
  device.element_bytes = 4 * element_share(op, context.precision);
  device.costs = &context.calibration.product;
  device.is_simt = arithmetic == Arithmetic::cuda_cores && context.gpu.architecture >= Architecture::pascal;
  device.issues_two =
      context.gpu.architecture == Architecture::pascal && context.gpu.compute_capability > 6.05;
  device.tiles = device.is_simt ? core_tiles(context.gpu) : usual_tiles();
  device.overlap_power = context.calibration.roofline_power;
  return device;
}

/// Returns the tensor cores whose measured formula holds for this product: plain, in 16 or 8 bits. Returns
/// nullptr where the constants of the GPU's family hold instead.
const TensorCores* measured_cores(const Operator& op, const Product& product, const KernelContext& context) {
  const bool is_plain = op.cls == OperatorClass::gemm ||
                        (op.cls == OperatorClass::attention && op.call != HostCall::fused_attention);
  if (!is_plain || product.serial > 1) return nullptr;
  const Arithmetic arithmetic = arithmetic_of(op, context.gpu, context.precision, context.framework);
  const bool is_narrow = arithmetic == Arithmetic::half || arithmetic == Arithmetic::fp8;
  return is_narrow ? tensor_cores_of(context.gpu) : nullptr;
}

/// Returns the number of elements, at most 16, that every row of operands and results begins at a multiple
/// of. The dimension that grows with the batch is no row's length.
double aligned_elements(const Product& product) {
  using Grows = Product::Grows;
  constexpr std::int64_t kEnough = 16;
  std::int64_t together = kEnough;
  const auto divide = [&](double length) { together = std::gcd(together, std::llround(length)); };
  divide(product.n);
  if (product.grows != Grows::rows) divide(product.m);
  if (product.grows != Grows::depth) divide(product.k);
  return static_cast<double>(together);
}

/// Returns the seconds of a product by the measured formula, without the launch that kernel_seconds() counts.
double tensor_product_time(const Operator& op, const Product& product, const KernelContext& context,
                           const TensorCores& cores, double batch) {
  using Grows = Product::Grows;
  const auto grown = [&](double size, Grows which) { return product.grows == which ? size * batch : size; };
  const Arithmetic arithmetic = arithmetic_of(op, context.gpu, context.precision, context.framework);
  const double bytes = arithmetic == Arithmetic::fp8 ? 1.0 : 2.0;
  const TensorProduct sizes{.m = grown(product.m, Grows::rows),
                            .n = product.n,
                            .k = grown(product.k, Grows::depth),
                            .count = grown(product.count, Grows::count),
                            .element_bytes = bytes,
                            .aligned_bytes = bytes * aligned_elements(product)};
  return std::max(0.0, tensor_product_seconds(sizes, context.gpu, cores, context.calibration) -
                           fixed_seconds(1, context.calibration));
}

/// Returns the call of fused attention that an operator stands for
/// (sim/workload/layers/scaled_dot_product.cpp).
FlashAttention flash_attention_of(const Operator& op, AttentionKernel kernel, double batch) {
  // Samples count as heads. Backward's products hold the scores computed again, hence two per head.
  constexpr double kCausalShare = 0.5;
  const Product& scores = op.products[0];
  const double calls = scores.count * (scores.grows == Product::Grows::count ? batch : 1);
  const double heads = calls / (scores.unmasked_share * (op.backward ? 2 : 1));
  const double value = op.backward ? scores.k : op.products[1].n;
  FlashAttention out;
  out.query_length = std::llround(scores.m);
  out.key_length = std::llround(scores.n);
  out.heads = out.kv_heads = std::llround(heads);
  out.head_dim = std::llround((scores.k + value) / 2);
  out.causal = scores.unmasked_share < 1;
  out.backward = op.backward;
  out.kernel = kernel;
  out.window_share = std::min(1.0, scores.unmasked_share / kCausalShare);
  return out;
}

/// Returns nullptr where the attention is not one kernel, or where no such kernels were measured.
const TensorCores* fused_cores(const Operator& op, const KernelContext& context) {
  if (op.call != HostCall::fused_attention || op.product_count < 2) return nullptr;
  const bool is_half =
      arithmetic_of(op, context.gpu, context.precision, context.framework) == Arithmetic::half;
  return is_half ? tensor_cores_of(context.gpu) : nullptr;
}

/// Returns the seconds of one matrix product or convolution, without the launch: measured formula, depthwise
/// kernels, convolutions on CUDA cores, and the general roofline, in this order.
double product_time(const Operator& op, const Product& product, const KernelContext& context, double batch) {
  if (const TensorCores* cores = measured_cores(op, product, context))
    return tensor_product_time(op, product, context, *cores, batch);
  const KernelCalibration& calibration = context.calibration;
  const Arithmetic arithmetic = arithmetic_of(op, context.gpu, context.precision, context.framework);
  const double bytes = product.bytes.at(batch) * element_share(op, context.precision);
  const double memory = memory_seconds(bytes, context.gpu, calibration);
  if (op.cls == OperatorClass::depthwise_conv) {
    if (const double own = depthwise_seconds(op, product, context, batch); own > 0)
      return overlapped(own, memory, calibration.roofline_power);
    const double rate = peak_rate(op, context.gpu, context.precision, context.framework).per_second *
                        calibration.depthwise_conv;
    return overlapped(product.flops(batch) / rate, memory, calibration.roofline_power);
  }
  const ProductDevice device = device_of(op, context, arithmetic);
  const double steps = (product.serial - 1) * to_seconds(calibration.serial_step);
  if (device.is_convolution && device.is_simt)
    return convolution_times(product, batch, device, context.gpu, calibration).fastest() + steps;
  double compute = product_seconds(product, batch, device);
  if (is_other_winograd(op, product, context.gpu, arithmetic)) compute /= kOtherWinograd;
  double time = overlapped(compute, memory, calibration.roofline_power) + steps;
  if (const double moved = transposed_passes(op, product, context, arithmetic); moved > 0)
    time += moved * memory_seconds(bytes, context.gpu, calibration);
  return time;
}

/// Returns the seconds of FLOPs on the cores that are no tensor cores.
double vector_seconds(double flops, const Gpu& gpu) {
  return flops / (gpu.fp32.per_second * gpu.sustained_clock);
}

/// Returns how often the operator really moves its bytes: more than once for normalizations.
double passes(const Operator& op, const KernelContext& context, double samples) {
  const KernelCalibration& calibration = context.calibration;
  if (op.cls != OperatorClass::normalization) return 1;
  const double usual =
      op.backward ? calibration.normalization_backward_passes : calibration.normalization_forward_passes;
  return batch_norm_passes(op, context, samples, usual);
}

/// Returns the seconds of the work beside products: nearly the longer of its memory traffic and its blocks'
/// arithmetic.
double rest_seconds(const Operator& op, double bytes, const KernelContext& context, double samples) {
  constexpr double kOverlap = 4;
  const double memory = memory_seconds(
      std::max(0.0, bytes) * element_share(op, context.precision) * passes(op, context, samples), context.gpu,
      context.calibration);
  const double blocks =
      batch_norm_block_seconds(op, context, samples) + pooling_visit_seconds(op, context, samples);
  return blocks > 0 ? overlapped(blocks, memory, kOverlap) : memory;
}

/// Returns the bytes of autocast's conversions. Operators that stay in 32 bit return their result in 16;
/// softmax and loss take 16 bit as well. Each cast reads 4 bytes an element and writes 2, or the other way
/// round. The operator's own bytes are 8 an element forward and 12 backward.
double cast_bytes(const Operator& op, const KernelContext& context, double samples) {
  const bool autocast = is_half(context.precision) && profile_of(context.framework).autocasts &&
                        context.framework.execution != Execution::compiled;
  if (op.half_capable || (context.half_weights && !op.stays_wide) || !autocast) return 0;
  const double elements = op.bytes.at(samples) / (op.backward ? 12 : 8),
               casts = op.cls == OperatorClass::reduction ? 2 : 1;
  return casts * 6 * elements;
}

}  // namespace

double kernel_seconds(const Operator& operation, const KernelContext& context, std::int64_t batch) {
  if (operation.stated) return to_seconds(*operation.stated);
  Operator op = operation;
  op.half_capable = op.half_capable || (context.half_weights && !op.stays_wide && op.call != HostCall::loss);
  const auto samples = static_cast<double>(std::max<std::int64_t>(batch, 0));
  if (const TensorCores* cores = fused_cores(op, context))
    return op.over_model *
           fused_attention_seconds(flash_attention_of(op, context.framework.attention, samples), context.gpu,
                                   *cores, context.calibration);
  // The bytes of products overlap with their arithmetic; `rest` are the others.
  double rest = op.bytes.at(samples), busy = 0;
  for (int i = 0; i < op.product_count; ++i) {
    rest -= op.products[i].bytes.at(samples);
    busy += product_time(op, op.products[i], context, samples);
  }
  busy += rest_seconds(op, rest, context, samples);
  busy += memory_seconds(cast_bytes(op, context, samples), context.gpu, context.calibration);
  if (op.is_roofline)
    busy = overlapped(vector_seconds(op.flops.at(samples), context.gpu), busy,
                      context.calibration.roofline_power);
  return op.over_model * (fixed_seconds(op.kernels, context.calibration) + busy);
}

Time kernel_time(const Operator& op, const KernelContext& context, std::int64_t batch) {
  return seconds(kernel_seconds(op, context, batch) * context.calibration.time_scale);
}

Time memory_kernel_time(Bytes bytes, const Gpu& gpu, const KernelCalibration& calibration) {
  return seconds(
      (fixed_seconds(1, calibration) + memory_seconds(static_cast<double>(bytes.count), gpu, calibration)) *
      calibration.time_scale);
}

}  // namespace foretrain
