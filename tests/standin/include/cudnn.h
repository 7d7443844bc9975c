// What foretrain-bench uses of cuDNN 9, declared for the stand-in.
#pragma once

#include "cuda_runtime_api.h"

#define CUDNN_MAJOR 9

enum cudnnStatus_t : int {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_NOT_INITIALIZED = 1001,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
  CUDNN_STATUS_INTERNAL_ERROR = 4000,
  CUDNN_STATUS_EXECUTION_FAILED = 5000
};
enum cudnnDataType_t { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9 };
enum cudnnMathType_t { CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH = 1, CUDNN_FMA_MATH = 3 };
enum cudnnTensorFormat_t { CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1 };
enum cudnnConvolutionMode_t { CUDNN_CROSS_CORRELATION = 1 };
enum cudnnConvolutionFwdAlgo_t : int {};
enum cudnnConvolutionBwdDataAlgo_t : int {};
enum cudnnConvolutionBwdFilterAlgo_t : int {};

/// One algorithm that the heuristics propose; the three passes differ in the type of `algo` alone.
template <class Algorithm>
struct StandinAlgorithm {
  Algorithm algo;
  cudnnStatus_t status;
  float time;
  std::size_t memory;
  int determinism;
  cudnnMathType_t mathType;
  int reserved[3];
};
using cudnnConvolutionFwdAlgoPerf_t = StandinAlgorithm<cudnnConvolutionFwdAlgo_t>;
using cudnnConvolutionBwdDataAlgoPerf_t = StandinAlgorithm<cudnnConvolutionBwdDataAlgo_t>;
using cudnnConvolutionBwdFilterAlgoPerf_t = StandinAlgorithm<cudnnConvolutionBwdFilterAlgo_t>;

using cudnnHandle_t = struct cudnnContext*;
using cudnnTensorDescriptor_t = struct cudnnTensorStruct*;
using cudnnFilterDescriptor_t = struct cudnnFilterStruct*;
using cudnnConvolutionDescriptor_t = struct cudnnConvolutionStruct*;

extern "C" {
std::size_t cudnnGetVersion();
const char* cudnnGetErrorString(cudnnStatus_t status);
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t one);
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t one, cudnnTensorFormat_t format, cudnnDataType_t type, int n, int c, int h,
                                         int w);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t one);
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t one, cudnnDataType_t type, cudnnTensorFormat_t format, int k, int c, int h,
                                         int w);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t one);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t one, int pad_h, int pad_w, int stride_h, int stride_w,
                                              int dilation_h, int dilation_w, cudnnConvolutionMode_t mode, cudnnDataType_t type);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t one, int groups);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t one, cudnnMathType_t type);
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                                                     cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y, int most,
                                                     int* count, cudnnConvolutionFwdAlgoPerf_t* found);
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y,
                                                          cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t x, int most,
                                                          int* count, cudnnConvolutionBwdDataAlgoPerf_t* found);
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
                                                            cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t w, int most,
                                                            int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found);
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x, const void* x_data,
                                      cudnnFilterDescriptor_t w, const void* w_data, cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algorithm, void* space, std::size_t bytes, const void* beta,
                                      cudnnTensorDescriptor_t y, void* y_data);
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, cudnnFilterDescriptor_t w, const void* w_data,
                                           cudnnTensorDescriptor_t y, const void* y_data, cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* space, std::size_t bytes, const void* beta,
                                           cudnnTensorDescriptor_t x, void* x_data);
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x, const void* x_data,
                                             cudnnTensorDescriptor_t y, const void* y_data, cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* space, std::size_t bytes, const void* beta,
                                             cudnnFilterDescriptor_t w, void* w_data);
}
