// What foretrain-bench uses of the CUDA runtime, declared for the stand-in: no toolkit is needed to build it. Values are those of CUDA 12.
#pragma once

#include <cstddef>

#define CUDART_VERSION 12040

/// Codes that the bench tells apart, or that its calls may end with: name, value, what CUDA says.
#define STANDIN_CUDA_ERRORS(X)                                                                             \
  X(cudaSuccess, 0, "no error")                                                                            \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                          \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                         \
  X(cudaErrorInitializationError, 3, "initialization error")                                               \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                    \
  X(cudaErrorStubLibrary, 34, "the library is a stub")                                                     \
  X(cudaErrorInsufficientDriver, 35, "the driver is older than the runtime")                               \
  X(cudaErrorDevicesUnavailable, 46, "all devices are busy or unavailable")                                \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                         \
  X(cudaErrorNoDevice, 100, "no device was detected")                                                      \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                 \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for the device")                   \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error")                                             \
  X(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these devices")             \
  X(cudaErrorInvalidPtx, 218, "a PTX compilation failed")                                                  \
  X(cudaErrorUnsupportedPtxVersion, 222, "the PTX was compiled by an unsupported toolchain")               \
  X(cudaErrorOperatingSystem, 304, "an operating system call failed")                                      \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                        \
  X(cudaErrorNotReady, 600, "device not ready")                                                            \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                              \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                         \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                              \
  X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                              \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                                  \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                             \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                                 \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                 \
  X(cudaErrorSystemNotReady, 802, "system not yet initialized")                                            \
  X(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination") \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")     \
  X(cudaErrorUnknown, 999, "unknown error")

#define STANDIN_ENUMERATOR(name, value, text) name = value,
enum cudaError : int { STANDIN_CUDA_ERRORS(STANDIN_ENUMERATOR) };
using cudaError_t = cudaError;

enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDefault = 4 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaDataType { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };

constexpr unsigned cudaHostAllocPortable = 1, cudaHostAllocMapped = 2;
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
};

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;

extern "C" {
const char* cudaGetErrorName(cudaError_t code);
const char* cudaGetErrorString(cudaError_t code);
cudaError_t cudaGetLastError();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to);
cudaError_t cudaDeviceEnablePeerAccess(int to, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int to);
cudaError_t cudaFree(void* data);
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaMalloc(void** data, std::size_t bytes);
}
