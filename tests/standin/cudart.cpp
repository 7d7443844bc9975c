// The CUDA runtime of the made-up machine. Work is done when it is enqueued; only its time lies ahead.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/standin/constants.hpp"
#include "tests/standin/device.hpp"

using namespace standin;

struct CUgraph_st {
  int kernels = 0;
};
struct CUgraphExec_st {
  int kernels = 0;
};

namespace {

int current_gpu = 0;
bool peers[kGpus][kGpus] = {};

/// Whether the call fails, as FORETRAIN_STANDIN_FAIL wants it.
cudaError_t call(const char* name, double seconds = kOtherCall) {
  return static_cast<cudaError_t>(begin_call(name, seconds));
}

bool is_gpu(int device) { return device >= 0 && device < kGpus; }

double copy_seconds(const void* to, const void* from, std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (is_on_device(to) && is_on_device(from)) return memory_seconds(2 * size);
  return kHostLatency + size / kHostRate;
}

/// Pinned memory, which alone is copied while the host goes on: few ranges, so a list does.
struct Pinned {
  const char* begin;
  std::size_t bytes;
};
std::vector<Pinned>& pinned() {
  static auto* all = new std::vector<Pinned>();
  return *all;
}
bool is_pinned(const void* at) {
  for (const Pinned& one : pinned()) {
    if (at >= one.begin && at < one.begin + one.bytes) return true;
  }
  return false;
}

bool waits_for_host(const void* to, const void* from) {
  return (!is_on_device(to) && !is_pinned(to)) || (!is_on_device(from) && !is_pinned(from));
}

cudaError_t wait_until(const char* name, double time) {
  const cudaError_t failed = call(name);
  advance_to(time);
  advance(kWake);
  return failed;
}

}  // namespace

#define STANDIN_CALL(...)                                                                          \
  if (const cudaError_t failed = call(__func__ __VA_OPT__(, ) __VA_ARGS__); failed != cudaSuccess) \
  return failed

extern "C" {

const char* cudaGetErrorName(cudaError_t code) {
#define STANDIN_NAME(name, value, text) \
  if (code == name) return #name;
  STANDIN_CUDA_ERRORS(STANDIN_NAME)
  return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t code) {
#define STANDIN_TEXT(name, value, text) \
  if (code == name) return text;
  STANDIN_CUDA_ERRORS(STANDIN_TEXT)
  return "unrecognized error code";
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaDriverGetVersion(int* version) {
  STANDIN_CALL();
  *version = is_wanted("no_driver") ? 0 : is_wanted("old_driver") ? 11040 : 12040;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  STANDIN_CALL();
  *count = is_wanted("no_gpu") ? 0 : kGpus;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  STANDIN_CALL();
  *device = current_gpu;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  STANDIN_CALL();
  if (!is_gpu(device)) return cudaErrorInvalidDevice;
  current_gpu = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  STANDIN_CALL();
  *value = what == cudaDevAttrMultiProcessorCount      ? kMultiprocessors
           : what == cudaDevAttrComputeCapabilityMajor ? kMajor
                                                       : kMinor;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  STANDIN_CALL();
  std::strcpy(properties->name, "Made-up GPU");
  properties->totalGlobalMem = static_cast<std::size_t>(memory_bytes());
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  STANDIN_CALL();
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", 16 * (device + 1));
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  STANDIN_CALL();
  *can = is_wanted("no_peers") ? 0 : 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int to, unsigned) {
  STANDIN_CALL();
  if (peers[current_gpu][to]) return cudaErrorPeerAccessAlreadyEnabled;
  peers[current_gpu][to] = true;
  return cudaSuccess;
}
cudaError_t cudaDeviceDisablePeerAccess(int to) {
  STANDIN_CALL();
  peers[current_gpu][to] = false;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  STANDIN_CALL();
  *data = allocate(bytes, current_gpu);
  return *data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  STANDIN_CALL();
  return release(data) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  STANDIN_CALL();
  *data = std::calloc(1, bytes);
  pinned().push_back({static_cast<const char*>(*data), bytes});
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  STANDIN_CALL();
  std::erase_if(pinned(), [&](const Pinned& one) { return one.begin == data; });
  std::free(data);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* to, int, std::size_t bytes) {
  STANDIN_CALL();
  clear_bytes(to, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int, std::size_t bytes, cudaStream_t stream) {
  STANDIN_CALL();
  clear_bytes(to, bytes);
  enqueue(*stream, memory_seconds(static_cast<double>(bytes)));
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  STANDIN_CALL(kCopyCall);
  move_bytes(to, from, bytes);
  advance(copy_seconds(to, from, bytes));
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  STANDIN_CALL(kCopyCall);
  move_bytes(to, from, bytes);
  if (is_wanted("wrong_copy") && bytes >= 4) *static_cast<char*>(to) ^= 1;
  const bool waits = waits_for_host(to, from);
  enqueue(*stream,
          waits ? kHostLatency + static_cast<double>(bytes) / kPageableRate : copy_seconds(to, from, bytes),
          is_on_device(to) && is_on_device(from));
  if (waits) advance_to(stream->ready);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  STANDIN_CALL(kCopyCall);
  move_bytes(to, from, bytes);
  const auto size = static_cast<double>(bytes);
  const bool is_direct = peers[from_device][to_device] || peers[to_device][from_device];
  enqueue(*stream, is_direct ? kPeerLatency + size / kPeerRate : 2 * (kHostLatency + size / kHostRate),
          false);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  STANDIN_CALL();
  *stream = new CUstream_st{current_gpu};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  STANDIN_CALL();
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return wait_until(__func__, stream->ready); }
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  STANDIN_CALL();
  return now() < stream->ready ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  STANDIN_CALL();
  stream->captured = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  STANDIN_CALL();
  *graph = new CUgraph_st{stream->captured};
  stream->captured = -1;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  STANDIN_CALL();
  *event = new CUevent_st{-1, (flags & cudaEventDisableTiming) == 0};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  STANDIN_CALL();
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  STANDIN_CALL(kEventCall);
  event->time = stream->ready > now() ? stream->ready : now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return wait_until(__func__, event->time); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  STANDIN_CALL();
  if (!begin->has_time || !end->has_time || begin->time < 0 || end->time < 0)
    return cudaErrorInvalidResourceHandle;
  if (now() < end->time) return cudaErrorNotReady;
  *milliseconds = static_cast<float>((end->time - begin->time) * 1e3);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long) {
  STANDIN_CALL();
  *executable = new CUgraphExec_st{graph->kernels};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  STANDIN_CALL(kGraphCall + executable->kernels * kGraphCallNode);
  enqueue(*stream, executable->kernels * kGraphNode, false);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  STANDIN_CALL();
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  STANDIN_CALL();
  delete executable;
  return cudaSuccess;
}

}  // extern "C"
