// cuDNN, opened at run time: the convolution functions that every version since 7 has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#define FORETRAIN_HAS_CUDNN_HEADER 1
#endif

#include "sim/base/shared_library.hpp"

namespace foretrain::micro {

struct Cudnn;

/// nullptr when there is none of the header's major version, or this program was built without the header;
/// `folders` as of open_library().
std::shared_ptr<const Cudnn> open_cudnn(const std::vector<std::string>& folders);
std::string cudnn_version(const Cudnn& cudnn);

#ifdef FORETRAIN_HAS_CUDNN_HEADER
struct Cudnn {
  /// Throws as fail_call() says.
  void check(cudnnStatus_t status, const char* call, const char* file, int line) const;

  SharedLibrary library;
  decltype(cudnnGetVersion)* get_version = nullptr;
  decltype(cudnnGetErrorString)* error_string = nullptr;
  decltype(cudnnCreate)* create = nullptr;
  decltype(cudnnDestroy)* destroy = nullptr;
  decltype(cudnnSetStream)* set_stream = nullptr;
  decltype(cudnnCreateTensorDescriptor)* create_tensor = nullptr;
  decltype(cudnnDestroyTensorDescriptor)* destroy_tensor = nullptr;
  decltype(cudnnSetTensor4dDescriptor)* set_tensor = nullptr;
  decltype(cudnnCreateFilterDescriptor)* create_filter = nullptr;
  decltype(cudnnDestroyFilterDescriptor)* destroy_filter = nullptr;
  decltype(cudnnSetFilter4dDescriptor)* set_filter = nullptr;
  decltype(cudnnCreateConvolutionDescriptor)* create_convolution = nullptr;
  decltype(cudnnDestroyConvolutionDescriptor)* destroy_convolution = nullptr;
  decltype(cudnnSetConvolution2dDescriptor)* set_convolution = nullptr;
  decltype(cudnnSetConvolutionMathType)* set_math = nullptr;
  decltype(cudnnSetConvolutionGroupCount)* set_groups = nullptr;
  decltype(cudnnGetConvolutionForwardAlgorithm_v7)* forward_algorithms = nullptr;
  decltype(cudnnGetConvolutionBackwardDataAlgorithm_v7)* data_algorithms = nullptr;
  decltype(cudnnGetConvolutionBackwardFilterAlgorithm_v7)* weights_algorithms = nullptr;
  decltype(cudnnConvolutionForward)* forward = nullptr;
  decltype(cudnnConvolutionBackwardData)* backward_data = nullptr;
  decltype(cudnnConvolutionBackwardFilter)* backward_weights = nullptr;
};
#endif

}  // namespace foretrain::micro

#define FORETRAIN_CUDNN(api, call) (api).check((api).call, #call, __FILE__, __LINE__)
