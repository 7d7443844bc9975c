// cuDNN of the made-up machine: direct convolutions, summed up where they are looked at; of constants the sum
// has a closed form.
#include <cudnn.h>

#include "tests/standin/constants.hpp"
#include "tests/standin/device.hpp"

using namespace standin;

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  Element element = Element::fp32;
  std::int64_t n = 0, c = 0, h = 0, w = 0;
  std::int64_t count() const { return n * c * h * w; }
};
struct cudnnFilterStruct {
  Element element = Element::fp32;
  std::int64_t k = 0, c = 0, h = 0, w = 0;
  std::int64_t count() const { return k * c * h * w; }
};
struct cudnnConvolutionStruct {
  int padding = 0, stride = 1, groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

enum class Pass { forward, data, weights };

Element element_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF       ? Element::fp16
         : type == CUDNN_DATA_BFLOAT16 ? Element::bf16
                                       : Element::fp32;
}

/// One convolution with everything a kernel needs.
struct Work {
  cudnnTensorStruct x, y;
  cudnnFilterStruct w;
  cudnnConvolutionStruct how;

  std::int64_t in(std::int64_t out, std::int64_t tap) const { return out * how.stride + tap - how.padding; }
  bool is_inside(std::int64_t row) const { return row >= 0 && row < x.h; }
  std::int64_t x_at(std::int64_t n, std::int64_t c, std::int64_t row, std::int64_t column) const {
    return ((n * x.c + c) * x.h + row) * x.w + column;
  }
  std::int64_t y_at(std::int64_t n, std::int64_t k, std::int64_t row, std::int64_t column) const {
    return ((n * y.c + k) * y.h + row) * y.w + column;
  }
  /// Pairs of an output row and a tap that meet the picture.
  double meeting() const {
    double pairs = 0;
    for (std::int64_t out = 0; out < y.h; ++out) {
      for (std::int64_t tap = 0; tap < w.h; ++tap) pairs += is_inside(in(out, tap)) ? 1 : 0;
    }
    return pairs;
  }
  double multiplications() const { return meeting() * meeting() * static_cast<double>(x.n * w.k * w.c); }
};

/// Calls visit(row, column of the output; row, column of the tap; row, column of the input) for every
/// meeting.
template <class Visit>
void visit_meetings(const Work& work, const Visit& visit) {
  for (std::int64_t at = 0; at < work.y.h * work.y.w * work.w.h * work.w.w; ++at) {
    const std::int64_t s = at % work.w.w, r = at / work.w.w % work.w.h, place = at / (work.w.w * work.w.h);
    const std::int64_t q = place % work.y.w, p = place / work.y.w, row = work.in(p, r),
                       column = work.in(q, s);
    if (work.is_inside(row) && work.is_inside(column)) visit(p, q, r, s, row, column);
  }
}

/// All results of a pass; for small convolutions.
std::vector<double> results(const Work& work, Pass pass, const Content& a, const Content& b) {
  const std::int64_t counts[] = {work.y.count(), work.x.count(), work.w.count()};
  std::vector<double> out(static_cast<std::size_t>(counts[static_cast<int>(pass)]));
  const std::int64_t filters = work.w.k / work.how.groups;
  for (std::int64_t n = 0; n < work.x.n; ++n) {
    for (std::int64_t k = 0; k < work.w.k; ++k) {
      for (std::int64_t c = 0; c < work.w.c; ++c) {
        const std::int64_t channel = k / filters * work.w.c + c;
        visit_meetings(work, [&](auto p, auto q, auto r, auto s, auto row, auto column) {
          const std::int64_t x = work.x_at(n, channel, row, column), y = work.y_at(n, k, p, q);
          const std::int64_t w = ((k * work.w.c + c) * work.w.h + r) * work.w.w + s;
          if (pass == Pass::forward) out[static_cast<std::size_t>(y)] += a.at(x) * b.at(w);
          if (pass == Pass::data) out[static_cast<std::size_t>(x)] += a.at(y) * b.at(w);
          if (pass == Pass::weights) out[static_cast<std::size_t>(w)] += a.at(x) * b.at(y);
        });
      }
    }
  }
  return out;
}

/// `a` and `b` are the operands in the order of the pass. What is large and no constant is timed alone:
/// nobody looks at it.
Content convolve(const Work& work, Pass pass, const Content& a, const Content& b) {
  constexpr double kSmall = 1e6;
  const double products = work.multiplications();
  if (is_wanted("wrong_conv")) return Content::all(-1);
  if (products <= kSmall) {
    const auto all = std::make_shared<std::vector<double>>(results(work, pass, a, b));
    return {[all](std::int64_t i) { return (*all)[static_cast<std::size_t>(i)]; }, {}, {}};
  }
  Content content{[](std::int64_t) { return 0.0; }, {}, {}};
  if (a.constant && b.constant) content.total = *a.constant * *b.constant * products;
  return content;
}

const Rate& rate_of(const Work& work) {
  if (work.x.element != Element::fp32) return kHalf;
  return work.how.math == CUDNN_FMA_MATH ? kFp32 : kTf32;
}

cudnnStatus_t run(cudnnHandle_t handle, const Work& work, Pass pass, const Content& a, const Content& b,
                  void* to, std::int64_t count) {
  const double size = work.x.element == Element::fp32 ? 4 : 2;
  const double bytes = size * static_cast<double>(work.x.count() + work.y.count() + work.w.count());
  const double places =
      static_cast<double>(work.y.count() * work.w.c * work.w.h * work.w.w);  // padding is computed, too
  enqueue(*handle->stream, compute_seconds(2 * places, rate_of(work).conv_rate(), bytes));
  put(to, count, work.x.element, convolve(work, pass, a, b));
  return CUDNN_STATUS_SUCCESS;
}

Content contents(const cudnnTensorStruct& tensor, const void* data) {
  return view(data, tensor.count(), tensor.element);
}
Content contents(const cudnnFilterStruct& filter, const void* data) {
  return view(data, filter.count(), filter.element);
}

/// The heuristics: the first algorithm wants more memory than the bench gives, the second is not supported,
/// the third is taken.
template <class Algorithm>
cudnnStatus_t propose(cudnnConvolutionDescriptor_t convolution, int most, int* count,
                      StandinAlgorithm<Algorithm>* found) {
  *count = most < 3 ? most : 3;
  for (int i = 0; i < *count; ++i) {
    found[i] = {};
    found[i].algo = static_cast<Algorithm>(i);
    found[i].mathType = convolution->math;
    found[i].memory = i == 0 ? std::size_t{1} << 40 : 1024;
    found[i].status = i == 1 || is_wanted("no_algorithm") ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

#define STANDIN_CALL(seconds) \
  if (const int failed = begin_call(__func__, seconds); failed != 0) return static_cast<cudnnStatus_t>(failed)

#define STANDIN_DESCRIPTOR(create, destroy, type) \
  cudnnStatus_t create(type** made) {             \
    STANDIN_CALL(kOtherCall);                     \
    *made = new type();                           \
    return CUDNN_STATUS_SUCCESS;                  \
  }                                               \
  cudnnStatus_t destroy(type* one) {              \
    STANDIN_CALL(kOtherCall);                     \
    delete one;                                   \
    return CUDNN_STATUS_SUCCESS;                  \
  }

extern "C" {

std::size_t cudnnGetVersion() { return 90100; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_NOT_SUPPORTED) return "CUDNN_STATUS_NOT_SUPPORTED";
  return "a stand-in's failure";
}

STANDIN_DESCRIPTOR(cudnnCreate, cudnnDestroy, cudnnContext)
STANDIN_DESCRIPTOR(cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor, cudnnTensorStruct)
STANDIN_DESCRIPTOR(cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor, cudnnFilterStruct)
STANDIN_DESCRIPTOR(cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor,
                   cudnnConvolutionStruct)

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  STANDIN_CALL(kOtherCall);
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t one, cudnnTensorFormat_t,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  STANDIN_CALL(kOtherCall);
  *one = {element_of(type), n, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t one, cudnnDataType_t type,
                                         cudnnTensorFormat_t, int k, int c, int h, int w) {
  STANDIN_CALL(kOtherCall);
  *one = {element_of(type), k, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t one, int padding, int, int stride,
                                              int, int, int, cudnnConvolutionMode_t, cudnnDataType_t) {
  STANDIN_CALL(kOtherCall);
  one->padding = padding, one->stride = stride;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t one, int groups) {
  STANDIN_CALL(kOtherCall);
  one->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t one, cudnnMathType_t type) {
  STANDIN_CALL(kOtherCall);
  one->math = type;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t,
                                                     cudnnFilterDescriptor_t,
                                                     cudnnConvolutionDescriptor_t convolution,
                                                     cudnnTensorDescriptor_t, int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found) {
  STANDIN_CALL(kOtherCall);
  return propose(convolution, most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, cudnnFilterDescriptor_t,
                                                          cudnnTensorDescriptor_t,
                                                          cudnnConvolutionDescriptor_t convolution,
                                                          cudnnTensorDescriptor_t, int most, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* found) {
  STANDIN_CALL(kOtherCall);
  return propose(convolution, most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t,
                                                            cudnnTensorDescriptor_t,
                                                            cudnnConvolutionDescriptor_t convolution,
                                                            cudnnFilterDescriptor_t, int most, int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* found) {
  STANDIN_CALL(kOtherCall);
  return propose(convolution, most, count, found);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x,
                                      const void* x_data, cudnnFilterDescriptor_t w, const void* w_data,
                                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t,
                                      void*, std::size_t, const void*, cudnnTensorDescriptor_t y,
                                      void* y_data) {
  STANDIN_CALL(kLaunchCall);
  return run(handle, {*x, *y, *w, *convolution}, Pass::forward, contents(*x, x_data), contents(*w, w_data),
             y_data, y->count());
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*, cudnnFilterDescriptor_t w,
                                           const void* w_data, cudnnTensorDescriptor_t y, const void* y_data,
                                           cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t, void*, std::size_t, const void*,
                                           cudnnTensorDescriptor_t x, void* x_data) {
  STANDIN_CALL(kLaunchCall);
  return run(handle, {*x, *y, *w, *convolution}, Pass::data, contents(*y, y_data), contents(*w, w_data),
             x_data, x->count());
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x,
                                             const void* x_data, cudnnTensorDescriptor_t y,
                                             const void* y_data, cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t, void*, std::size_t, const void*,
                                             cudnnFilterDescriptor_t w, void* w_data) {
  STANDIN_CALL(kLaunchCall);
  return run(handle, {*x, *y, *w, *convolution}, Pass::weights, contents(*x, x_data), contents(*y, y_data),
             w_data, w->count());
}

}  // extern "C"
