// Only the major version of the header: its enumerations changed between majors.
#include "calibrate/micro/gpu/cudnn.hpp"

#include <fmt/format.h>

#include "calibrate/micro/gpu/check.hpp"
#include "calibrate/micro/plan/python.hpp"

namespace foretrain::micro {

#ifdef FORETRAIN_HAS_CUDNN_HEADER

namespace {

/// Since version 9 codes have classes of a thousand: 2 is a wrong parameter, 3 what is not supported, and in
/// each the first stands for all; of 4, what is wrong inside, two are memory that was not to be had. Before,
/// each stood alone, and what runs or starts wrong were three.
bool is_about_point(cudnnStatus_t status) {
  constexpr int kClass = 1000, kHostMemory = 4003, kDeviceMemory = 4004;
  const int code = static_cast<int>(status);
  if (code >= kClass)
    return code / kClass == 2 || code / kClass == 3 || code == kHostMemory || code == kDeviceMemory;
  return status != CUDNN_STATUS_NOT_INITIALIZED && status != CUDNN_STATUS_EXECUTION_FAILED &&
         status != CUDNN_STATUS_INTERNAL_ERROR;
}

bool load_all(Cudnn& c) {
  const SharedLibrary& library = c.library;
  return library.load(c.get_version, "cudnnGetVersion") &&
         library.load(c.error_string, "cudnnGetErrorString") && library.load(c.create, "cudnnCreate") &&
         library.load(c.destroy, "cudnnDestroy") && library.load(c.set_stream, "cudnnSetStream") &&
         library.load(c.create_tensor, "cudnnCreateTensorDescriptor") &&
         library.load(c.destroy_tensor, "cudnnDestroyTensorDescriptor") &&
         library.load(c.set_tensor, "cudnnSetTensor4dDescriptor") &&
         library.load(c.create_filter, "cudnnCreateFilterDescriptor") &&
         library.load(c.destroy_filter, "cudnnDestroyFilterDescriptor") &&
         library.load(c.set_filter, "cudnnSetFilter4dDescriptor") &&
         library.load(c.create_convolution, "cudnnCreateConvolutionDescriptor") &&
         library.load(c.destroy_convolution, "cudnnDestroyConvolutionDescriptor") &&
         library.load(c.set_convolution, "cudnnSetConvolution2dDescriptor") &&
         library.load(c.set_math, "cudnnSetConvolutionMathType") &&
         library.load(c.set_groups, "cudnnSetConvolutionGroupCount") &&
         library.load(c.forward_algorithms, "cudnnGetConvolutionForwardAlgorithm_v7") &&
         library.load(c.data_algorithms, "cudnnGetConvolutionBackwardDataAlgorithm_v7") &&
         library.load(c.weights_algorithms, "cudnnGetConvolutionBackwardFilterAlgorithm_v7") &&
         library.load(c.forward, "cudnnConvolutionForward") &&
         library.load(c.backward_data, "cudnnConvolutionBackwardData") &&
         library.load(c.backward_weights, "cudnnConvolutionBackwardFilter");
}

}  // namespace

std::shared_ptr<const Cudnn> open_cudnn(const std::vector<std::string>& folders) {
  auto cudnn = std::make_shared<Cudnn>();
  // cuDNN opens it by its bare name, which is found once it is loaded.
  (void)open_library(fmt::format("libnvrtc.so.{}", CUDART_VERSION / 1000), folders);
  cudnn->library = open_library(fmt::format("libcudnn.so.{}", CUDNN_MAJOR), folders);
  return cudnn->library && load_all(*cudnn) ? cudnn : nullptr;
}

std::string cudnn_version(const Cudnn& cudnn) {
  const std::size_t version = cudnn.get_version();  // 8907: 8.9.7, 91900: 9.19.0
  const std::size_t major = version >= 90000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

void Cudnn::check(cudnnStatus_t status, const char* call, const char* file, int line) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  fail_call(fmt::format("cudnn {}", call).c_str(), file, line, error_string(status), is_about_point(status));
}

#else

struct Cudnn {};
std::shared_ptr<const Cudnn> open_cudnn(const std::vector<std::string>&) { return nullptr; }
std::string cudnn_version(const Cudnn&) { return ""; }

#endif

}  // namespace foretrain::micro
