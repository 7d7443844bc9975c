// Memory, streams, events and graphs of CUDA that free themselves.
#pragma once

#include <cstddef>
#include <memory>

#include "calibrate/micro/gpu/check.hpp"

namespace foretrain::micro {

/// Makes a GPU current while it lives.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    FORETRAIN_CUDA(cudaGetDevice(&before_));
    FORETRAIN_CUDA(cudaSetDevice(device));
  }
  ~OnDevice() { (void)cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// Memory of the current GPU.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    void* data = nullptr;
    FORETRAIN_CUDA(cudaMalloc(&data, bytes > 0 ? bytes : 1));
    data_ = std::shared_ptr<void>(data, [](void* p) { (void)cudaFree(p); });
  }
  void* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_.get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  std::size_t bytes_ = 0;
};

/// Page-locked host memory, which kernels may write to.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t bytes) {
    void* data = nullptr;
    FORETRAIN_CUDA(cudaHostAlloc(&data, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
    data_ = std::shared_ptr<void>(data, [](void* p) { (void)cudaFreeHost(p); });
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_.get());
  }

 private:
  std::shared_ptr<void> data_;
};

/// A stream of the current GPU that does not wait for the default stream.
class Stream {
 public:
  Stream() {
    cudaStream_t stream = nullptr;
    FORETRAIN_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_ = std::shared_ptr<CUstream_st>(stream, [](cudaStream_t s) { (void)cudaStreamDestroy(s); });
  }
  cudaStream_t get() const { return stream_.get(); }
  void wait() const { FORETRAIN_CUDA(cudaStreamSynchronize(stream_.get())); }

 private:
  std::shared_ptr<CUstream_st> stream_;
};

/// An event of the current GPU, with time unless `flags` say otherwise.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) {
    cudaEvent_t event = nullptr;
    FORETRAIN_CUDA(cudaEventCreateWithFlags(&event, flags));
    event_ = std::shared_ptr<CUevent_st>(event, [](cudaEvent_t e) { (void)cudaEventDestroy(e); });
  }
  cudaEvent_t get() const { return event_.get(); }
  void record(const Stream& stream) const { FORETRAIN_CUDA(cudaEventRecord(event_.get(), stream.get())); }
  void wait() const { FORETRAIN_CUDA(cudaEventSynchronize(event_.get())); }

 private:
  std::shared_ptr<CUevent_st> event_;
};

/// Both must have been reached.
inline double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  FORETRAIN_CUDA(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace foretrain::micro
