// Descriptors and algorithm of a pass are prepared once; running it is one call. fp32 forbids TF32, tf32
// allows it, 16 bit uses tensor cores.
#include "calibrate/micro/gpu/convolutions.hpp"

#ifdef FORETRAIN_HAS_CUDNN_HEADER

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "calibrate/micro/gpu/check.hpp"
#include "calibrate/micro/plan/outcome.hpp"

namespace foretrain::micro {

namespace {

constexpr std::size_t kLargestWorkspace = std::size_t{1} << 30;
constexpr int kMostAlgorithms = 10;
constexpr float kOne = 1, kZero = 0;

cudnnDataType_t type_of(std::string_view precision) {
  if (precision == "fp16") return CUDNN_DATA_HALF;
  if (precision == "bf16") return CUDNN_DATA_BFLOAT16;
  return CUDNN_DATA_FLOAT;
}

cudnnMathType_t math_of(std::string_view precision) {
  if (precision == "fp32") return CUDNN_FMA_MATH;
  return precision == "tf32" ? CUDNN_DEFAULT_MATH : CUDNN_TENSOR_OP_MATH;
}

/// A descriptor that destroys itself.
template <class Pointer, class Create, class Destroy>
auto descriptor(const Cudnn& api, Create create, Destroy destroy) {
  Pointer made = nullptr;
  api.check(create(&made), "creating a descriptor", __FILE__, __LINE__);
  return std::shared_ptr<std::remove_pointer_t<Pointer>>(made, [destroy](Pointer p) { (void)destroy(p); });
}

/// The first algorithm that works within the largest workspace; `found` as cuDNN's heuristics order them.
template <class Algorithm>
Algorithm first_that_fits(const Algorithm* found, int count) {
  for (int i = 0; i < count; ++i) {
    if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].memory <= kLargestWorkspace) return found[i];
  }
  throw PointSkipped("cuDNN has no algorithm for this convolution");
}

}  // namespace

struct Convolutions::Prepared {
  ConvPass pass = ConvPass::forward;
  std::shared_ptr<cudnnTensorStruct> x, y;
  std::shared_ptr<cudnnFilterStruct> w;
  std::shared_ptr<cudnnConvolutionStruct> convolution;
  cudnnConvolutionFwdAlgo_t forward{};
  cudnnConvolutionBwdDataAlgo_t data{};
  cudnnConvolutionBwdFilterAlgo_t weights{};
  std::size_t workspace = 0;

  void describe(const Cudnn& api, const ConvShape& s, std::string_view precision, bool channels_last) {
    const cudnnTensorFormat_t format = channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    const cudnnDataType_t type = type_of(precision);
    x = descriptor<cudnnTensorDescriptor_t>(api, api.create_tensor, api.destroy_tensor);
    y = descriptor<cudnnTensorDescriptor_t>(api, api.create_tensor, api.destroy_tensor);
    w = descriptor<cudnnFilterDescriptor_t>(api, api.create_filter, api.destroy_filter);
    convolution =
        descriptor<cudnnConvolutionDescriptor_t>(api, api.create_convolution, api.destroy_convolution);
    FORETRAIN_CUDNN(api, set_tensor(x.get(), format, type, s.batch, s.channels, s.size, s.size));
    FORETRAIN_CUDNN(api,
                    set_tensor(y.get(), format, type, s.batch, s.filters, s.output_size(), s.output_size()));
    FORETRAIN_CUDNN(api,
                    set_filter(w.get(), type, format, s.filters, s.channels / s.groups, s.kernel, s.kernel));
    FORETRAIN_CUDNN(api, set_convolution(convolution.get(), s.padding(), s.padding(), s.stride, s.stride, 1,
                                         1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    FORETRAIN_CUDNN(api, set_groups(convolution.get(), s.groups));
    FORETRAIN_CUDNN(api, set_math(convolution.get(), math_of(precision)));
  }

  /// What the chosen algorithm needs beside itself.
  void take(const Cudnn& api, cudnnMathType_t math, std::size_t memory) {
    FORETRAIN_CUDNN(api, set_math(convolution.get(), math));
    workspace = memory;
  }

  void choose_forward(const Cudnn& api, cudnnHandle_t handle) {
    cudnnConvolutionFwdAlgoPerf_t found[kMostAlgorithms];
    int count = 0;
    FORETRAIN_CUDNN(api, forward_algorithms(handle, x.get(), w.get(), convolution.get(), y.get(),
                                            kMostAlgorithms, &count, found));
    const auto chosen = first_that_fits(found, count);
    forward = chosen.algo;
    take(api, chosen.mathType, chosen.memory);
  }
  void choose_data(const Cudnn& api, cudnnHandle_t handle) {
    cudnnConvolutionBwdDataAlgoPerf_t found[kMostAlgorithms];
    int count = 0;
    FORETRAIN_CUDNN(api, data_algorithms(handle, w.get(), y.get(), convolution.get(), x.get(),
                                         kMostAlgorithms, &count, found));
    const auto chosen = first_that_fits(found, count);
    data = chosen.algo;
    take(api, chosen.mathType, chosen.memory);
  }
  void choose_weights(const Cudnn& api, cudnnHandle_t handle) {
    cudnnConvolutionBwdFilterAlgoPerf_t found[kMostAlgorithms];
    int count = 0;
    FORETRAIN_CUDNN(api, weights_algorithms(handle, x.get(), y.get(), convolution.get(), w.get(),
                                            kMostAlgorithms, &count, found));
    const auto chosen = first_that_fits(found, count);
    weights = chosen.algo;
    take(api, chosen.mathType, chosen.memory);
  }
};

ConvOperands::ConvOperands(const ConvShape& shape, Element element) {
  const auto allocate = [&](std::int64_t count) {
    return DeviceBuffer(static_cast<std::size_t>(count * bytes_of(element)));
  };
  x = allocate(shape.input_elements());
  w = allocate(shape.weight_elements());
  y = allocate(shape.output_elements());
}

Convolutions::Convolutions(std::shared_ptr<const Cudnn> api, const Stream& stream)
    : api_(std::move(api)), stream_(stream) {
  cudnnHandle_t handle = nullptr;
  FORETRAIN_CUDNN(*api_, create(&handle));
  handle_ =
      std::shared_ptr<cudnnContext>(handle, [destroy = api_->destroy](cudnnHandle_t h) { (void)destroy(h); });
  FORETRAIN_CUDNN(*api_, set_stream(handle, stream_.get()));
}

Convolutions::Plan Convolutions::prepare(const ConvShape& shape, std::string_view precision,
                                         bool channels_last, ConvPass pass) {
  auto plan = std::make_shared<Prepared>();
  plan->pass = pass;
  plan->describe(*api_, shape, precision, channels_last);
  if (pass == ConvPass::forward) plan->choose_forward(*api_, handle_.get());
  if (pass == ConvPass::data) plan->choose_data(*api_, handle_.get());
  if (pass == ConvPass::weights) plan->choose_weights(*api_, handle_.get());
  if (plan->workspace > workspace_.bytes()) workspace_ = DeviceBuffer(plan->workspace);
  return plan;
}

void Convolutions::run(const Plan& plan, void* x, void* w, void* y) const {
  const Prepared& p = *plan;
  cudnnHandle_t handle = handle_.get();
  void* space = workspace_.data();
  switch (p.pass) {
    case ConvPass::forward:
      FORETRAIN_CUDNN(*api_, forward(handle, &kOne, p.x.get(), x, p.w.get(), w, p.convolution.get(),
                                     p.forward, space, p.workspace, &kZero, p.y.get(), y));
      return;
    case ConvPass::data:
      FORETRAIN_CUDNN(*api_, backward_data(handle, &kOne, p.w.get(), w, p.y.get(), y, p.convolution.get(),
                                           p.data, space, p.workspace, &kZero, p.x.get(), x));
      return;
    case ConvPass::weights:
      FORETRAIN_CUDNN(*api_, backward_weights(handle, &kOne, p.x.get(), x, p.y.get(), y, p.convolution.get(),
                                              p.weights, space, p.workspace, &kZero, p.w.get(), w));
      return;
  }
}

namespace {

/// A tensor of a pass: its memory and number of elements.
struct Tensor {
  void* data;
  std::int64_t count;
};

/// The two operands of a pass, then its result.
std::array<Tensor, 3> tensors_of(const ConvShape& shape, const ConvOperands& operands, ConvPass pass) {
  const Tensor x{operands.x.data(), shape.input_elements()}, w{operands.w.data(), shape.weight_elements()},
      y{operands.y.data(), shape.output_elements()};
  if (pass == ConvPass::forward) return {x, w, y};
  return pass == ConvPass::data ? std::array<Tensor, 3>{y, w, x} : std::array<Tensor, 3>{x, y, w};
}

}  // namespace

void Convolutions::expect_right_small(std::string_view precision, ConvPass pass) {
  constexpr double kOfTransforms = 10;  // Winograd and Fourier transforms round where direct sums are exact
  const Element element = element_of(precision);
  for (const ConvShape& shape :
       {ConvShape{2, 8, 16, 10, 3, 1}, ConvShape{2, 16, 8, 8, 1, 2}, ConvShape{2, 8, 8, 9, 3, 2}}) {
    const ConvOperands operands(shape, element);
    const auto tensors = tensors_of(shape, operands, pass);
    for (std::uint32_t i = 0; i < 2; ++i)
      FORETRAIN_CUDA(
          launch_fill_pattern(element, tensors[i].data, tensors[i].count, i + 1, 1, stream_.get()));
    run(prepare(shape, precision, false, pass), operands.x.data(), operands.w.data(), operands.y.data());
    const auto found = read_elements(element, tensors[2].data, tensors[2].count, stream_);
    const std::string wrong =
        first_difference(found, reference_conv(shape, pass), kOfTransforms * tolerance_of(precision));
    if (!wrong.empty()) throw WrongResult(fmt::format("a small convolution in {}: {}", precision, wrong));
  }
}

void Convolutions::expect_right_sum(const ConvShape& shape, const Plan& plan, Element element,
                                    const ConvOperands& operands) const {
  constexpr double kSmall = 1.0 / 1024, kTolerance = 0.01;  // sums of many ones would overflow 16 bits
  const auto tensors = tensors_of(shape, operands, plan->pass);
  FORETRAIN_CUDA(launch_fill(element, tensors[0].data, tensors[0].count, 1, stream_.get()));
  FORETRAIN_CUDA(launch_fill(element, tensors[1].data, tensors[1].count, kSmall, stream_.get()));
  run(plan, operands.x.data(), operands.w.data(), operands.y.data());
  const double sum = device_sum(element, tensors[2].data, tensors[2].count, stream_),
               expected = conv_checksum(shape, kSmall);
  if (!(std::abs(sum - expected) <= kTolerance * expected))
    throw WrongResult(fmt::format("a convolution of ones sums to {}, expected {}", sum, expected));
  for (std::uint32_t i = 0; i < 2; ++i)
    FORETRAIN_CUDA(
        launch_fill_pattern(element, tensors[i].data, tensors[i].count, i + 1, 0.5, stream_.get()));
}

ConvPass pass_of(std::string_view what) {
  if (what == "forward") return ConvPass::forward;
  return what == "data" ? ConvPass::data : ConvPass::weights;
}

}  // namespace foretrain::micro

#endif
