// A benchmarked product or convolution is predicted as the operator that a network with such a layer would
// run.
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/workload/device/device_constants.hpp"
#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

namespace {

/// A precision by the name that benchmarks give it.
struct NamedPrecision {
  std::string_view name;
  Precision precision;
};
constexpr std::array kPrecisions{
    NamedPrecision{"fp32", Precision::fp32}, NamedPrecision{"tf32", Precision::tf32},
    NamedPrecision{"fp16", Precision::amp_fp16}, NamedPrecision{"bf16", Precision::bf16},
    NamedPrecision{"fp8", Precision::fp8}};

/// Returns the precision that trainings use under that name; nothing for others.
std::optional<Precision> precision_of(const Sample& sample) {
  const std::string_view name = setting_of(sample, "precision");
  const auto found = std::ranges::find(kPrecisions, name, &NamedPrecision::name);
  return found == kPrecisions.end() ? std::nullopt : std::optional(found->precision);
}

/// Returns an operator that consists of one product.
Operator with_product(OperatorClass cls, HostCall call, const Product& product) {
  Operator op;
  op.cls = cls, op.call = call;
  op.flops = {0, product.flops_per_sample()};
  op.bytes = product.bytes;
  return op.with(product);
}

/// Returns the operator of C[m,n] = A[m,k] B[k,n], `count` times; nothing for an incomplete shape.
std::optional<Operator> gemm_of(const Sample& sample) {
  const auto number = [&](std::string_view key) {
    return static_cast<double>(number_of(sample, key, key == "count" ? 1 : 0));
  };
  Product product;
  product.m = number("m"), product.n = number("n"), product.k = number("k"), product.count = number("count");
  if (product.m < 1 || product.n < 1 || product.k < 1 || product.count < 1) return std::nullopt;
  product.bytes = {
      4 * product.count * (product.m * product.k + product.k * product.n + product.m * product.n), 0};
  return with_product(OperatorClass::gemm, HostCall::linear, product);
}

/// Returns the operator of a convolution as docs/models/kernels.md defines it: forward, gradient of the
/// input, gradient of the weights. Padding keeps the size.
std::optional<Operator> convolution_of(const Sample& sample) {
  const auto number = [&](std::string_view key, std::int64_t least) {
    return static_cast<double>(number_of(sample, key, least));
  };
  const double channels = number("channels", 0), filters = number("filters", 0), size = number("size", 0),
               kernel = number("kernel", 1);
  const double stride = number("stride", 1), groups = number("groups", 1), window = kernel * kernel;
  if (channels < 1 || filters < 1 || size < 1 || kernel < 1 || stride < 1 || groups < 1) return std::nullopt;
  const double side = std::floor((size + 2 * std::floor(kernel / 2) - kernel) / stride) + 1;
  const double in_places = size * size, out_places = side * side, from = channels / groups,
               to = filters / groups;
  // A convolution is a product over its window: output places, filters, and window elements take the roles of
  // m, n and k.
  Product product;
  product.count = groups;
  if (sample.what == "data")
    product.m = in_places, product.n = from, product.k = to * window;
  else if (sample.what == "weights")
    product.m = to, product.n = from * window, product.k = out_places, product.grows = Product::Grows::depth;
  else if (sample.what == "forward")
    product.m = out_places, product.n = to, product.k = from * window;
  else
    return std::nullopt;
  product.window = static_cast<std::int32_t>(window), product.stride = static_cast<std::int32_t>(stride);
  product.bytes = {4 * from * to * groups * window, 4 * (channels * in_places + filters * out_places)};
  const bool depthwise = groups > 1 && groups == channels;
  return with_product(depthwise ? OperatorClass::depthwise_conv : OperatorClass::conv, HostCall::conv2d,
                      product);
}

/// Times of kernels on one cluster.
class KernelSampleTimes {
 public:
  explicit KernelSampleTimes(const ClusterSpec& cluster)
      : gpu_(cluster.node.gpu), kernels_(kernel_calibration_of(cluster)) {}

  SampleAnswer predict(const Sample& sample) const {
    if (sample.unit != SampleUnit::us) return SampleAnswer::nothing("a kernel's sample is in us");
    return sample.kind == SampleKind::memory ? memory(sample) : product(sample);
  }

 private:
  SampleAnswer memory(const Sample& sample) const {
    if (sample.bytes < 1) return SampleAnswer::nothing("no bytes");
    return {to_seconds(memory_kernel_time({sample.bytes}, gpu_, kernels_)) * 1e6};
  }

  SampleAnswer product(const Sample& sample) const {
    const std::optional<Precision> precision = precision_of(sample);
    if (!precision) return SampleAnswer::nothing("trainings do not run in this precision");
    // Trainings in fp32 run convolutions in TF32 on these GPUs, so the sample has no counterpart in the
    // model.
    if (sample.kind == SampleKind::conv && *precision == Precision::fp32 && gpu_.tf32 > gpu_.fp32)
      return SampleAnswer::nothing("fp32 trainings convolve in TF32 on this GPU");
    const std::optional<Operator> op =
        sample.kind == SampleKind::gemm ? gemm_of(sample) : convolution_of(sample);
    const std::int64_t batch = number_of(sample, "batch", 1);
    if (!op || batch < 1) return SampleAnswer::nothing("the shape is incomplete");
    KernelContext context{gpu_, kernels_, *precision};
    // The operands are stored in that precision already, so nothing is cast.
    context.half_weights = true;
    if (setting_of(sample, "layout") != "nchw") context.framework.layout = ImageLayout::channels_last;
    return {to_seconds(kernel_time(*op, context, batch)) * 1e6};
  }

  const Gpu& gpu_;
  KernelCalibration kernels_;
};

bool is_of_kernel(const Sample& sample) {
  return sample.kind == SampleKind::memory || sample.kind == SampleKind::gemm ||
         sample.kind == SampleKind::conv;
}

}  // namespace

void predict_kernel_samples(SampleRun& run) {
  if (std::ranges::none_of(run.samples, is_of_kernel)) return;
  const KernelSampleTimes times(run.cluster);
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (is_of_kernel(run.samples[i])) run.take(i, times.predict(run.samples[i]));
  }
}

}  // namespace foretrain
