// Times of kernels with a fixed pace. A block of batch norm waits for the memory that it reads, so its time
// is one of latency: the same nanoseconds an element on every GPU (assumed). Pooling computes addresses, at a
// fixed number of clocks a visit.
#include "sim/workload/device/channel_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/device/arithmetic.hpp"

namespace foretrain {
namespace {

/// Seconds per element of a block that has its multiprocessor to itself. Fitted to 369 different sizes on an
/// H100, with a median error of 11 %.
struct BatchNormPace {
  double forward, backward;
};
constexpr BatchNormPace kTwoReads{0.667e-9, 1.26e-9};
constexpr BatchNormPace kOneRead{0.631e-9, 1.08e-9};
/// Factor for one-read kernels, which take two 16-bit numbers at once where a channel of a sample has an even
/// number of them.
constexpr double kPairsOfHalves = 0.44;
/// Several blocks on a multiprocessor hide each other's waiting: its rate grows by this power of their
/// number, up to four of them.
constexpr double kSharedPower = 0.10, kMostBlocks = 4;

/// Bytes of a channel up to which one-read kernels were seen: forward, backward in 32 bits, and backward in
/// 16 bits. The next larger channels were read twice.
constexpr double kKeptForward = 140e3, kKeptBackward = 60e3, kKeptBackwardHalf = 35e3;

/// FLOPs that the operators count for each element (sim/workload/layers/normalization.cpp).
constexpr double kFlopsForward = 8, kFlopsBackward = 12;

/// Clocks of a multiprocessor per visit of an element by a pooling window; measured on the same H100.
constexpr double kVisitForward = 0.45, kVisitBackward = 1.2;

/// Clocks of depthwise convolutions per visit. The gradient of their input takes a fixed time for each of its
/// elements, whatever the window and the stride, because the kernel divides to find the windows.
constexpr double kDepthwiseForward = 0.25, kDepthwiseWeights = 0.5, kDepthwiseElement = 4.6;
constexpr int kLargestDepthwise = 5 * 5;

/// True where PyTorch's and cuDNN's own CUDA kernels run.
bool is_cuda_eager(const KernelContext& context) {
  const Architecture architecture = context.gpu.architecture;
  return architecture != Architecture::cpu && !is_amd(architecture) &&
         context.framework.execution != Execution::compiled;
}

/// Returns the clocks of all multiprocessors together, per second.
double clocks_per_second(const Gpu& gpu) {
  return clock_rate(gpu) * gpu.sustained_clock * std::max(1, gpu.sm_count);
}

/// The size of a batch norm as its kernels see it: elements in all, elements of one channel, and two
/// properties.
struct BatchNormSize {
  double elements = 0, of_channel = 0, element_bytes = 4;
  bool in_pairs = false;
  bool is_kept = false;
};

BatchNormSize size_of(const Operator& op, const KernelContext& context, double samples) {
  BatchNormSize size;
  // The operator has no element count; its FLOPs are a fixed number for each element.
  size.elements = op.flops.at(samples) / (op.backward ? kFlopsBackward : kFlopsForward);
  size.of_channel = size.elements / static_cast<double>(op.channels);
  size.element_bytes = 4 * element_share(op, context.precision);
  const bool is_half = size.element_bytes < 4;
  // An odd number of positions in a channel of a sample prevents loads of two halves at once.
  const double positions = std::round(size.of_channel / std::max(1.0, samples));
  size.in_pairs = is_half && std::fmod(positions, 2) == 0;
  const double kept = !op.backward ? kKeptForward : is_half ? kKeptBackwardHalf : kKeptBackward;
  size.is_kept = size.of_channel * size.element_bytes <= kept;
  return size;
}

bool has_block_per_channel(const Operator& op, const KernelContext& context) {
  return op.call == HostCall::batch_norm && op.channels > 0 && is_cuda_eager(context) &&
         context.framework.layout == ImageLayout::channels_first;
}

}  // namespace

double batch_norm_block_seconds(const Operator& op, const KernelContext& context, double samples) {
  if (!has_block_per_channel(op, context)) return 0;
  const BatchNormSize size = size_of(op, context, samples);
  const BatchNormPace& pace = size.is_kept ? kOneRead : kTwoReads;
  const double each =
      (op.backward ? pace.backward : pace.forward) * (size.is_kept && size.in_pairs ? kPairsOfHalves : 1);
  const double channels = static_cast<double>(op.channels),
               multiprocessors = std::max(1, context.gpu.sm_count);
  const double shared = std::pow(std::clamp(channels / multiprocessors, 1.0, kMostBlocks), kSharedPower);
  // Channels are worked on concurrently, at most one at a time on each multiprocessor at the measured pace.
  return size.elements / std::min(channels, multiprocessors) * each / shared;
}

double batch_norm_passes(const Operator& op, const KernelContext& context, double samples, double otherwise) {
  if (!has_block_per_channel(op, context)) return otherwise;
  return size_of(op, context, samples).is_kept ? 1 : otherwise;
}

double depthwise_seconds(const Operator& op, const Product& product, const KernelContext& context,
                         double samples) {
  // Conditions under which PyTorch does not hand a depthwise convolution to cuDNN.
  if (!is_cuda_eager(context) || context.framework.layout != ImageLayout::channels_first) return 0;
  if (context.framework.kind != FrameworkKind::pytorch || product.window > kLargestDepthwise) return 0;
  if (element_share(op, context.precision) < 1 && product.stride == 1) return 0;
  const double visits = product.flops(samples) / 2;
  const bool is_of_input = op.backward && product.grows == Product::Grows::rows;
  const double clocks = is_of_input   ? kDepthwiseElement * visits / std::max(1.0, product.k)
                        : op.backward ? kDepthwiseWeights * visits
                                      : kDepthwiseForward * visits;
  const double rate = clocks_per_second(context.gpu);
  return rate > 0 ? clocks / rate : 0;
}

double pooling_visit_seconds(const Operator& op, const KernelContext& context, double samples) {
  if (op.cls != OperatorClass::pooling || !is_cuda_eager(context)) return 0;
  const double rate = clocks_per_second(context.gpu);
  if (!(rate > 0)) return 0;
  return op.visits.at(samples) * (op.backward ? kVisitBackward : kVisitForward) / rate;
}

}  // namespace foretrain
