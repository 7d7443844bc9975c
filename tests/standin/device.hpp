// The made-up machine at work: a clock that only calls move, streams with times, memory that knows what was
// written without holding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/micro/gpu/kernels.hpp"

struct CUstream_st {
  int device = 0;
  double ready = 0;   ///< when all that was enqueued is done
  int captured = -1;  ///< kernels of the graph that is being captured; -1: none is
};
struct CUevent_st {
  double time = -1;
  bool has_time = true;
};

namespace standin {

using foretrain::micro::Element;

/// Seconds of this thread's clock. The process's clock is the kernel's until the first call of CUDA, then
/// this one.
double now();
void advance(double seconds);
/// As an event in the future that the host waits for: the clock never goes back.
void advance_to(double time);

/// The code that FORETRAIN_STANDIN_FAIL wants of this call: "cudaMalloc=2" of every call, "cudaMalloc=2@3"
/// from the third on; several with commas. 0: it works; "cudaMalloc=-11" raises signal 11 there. Every call
/// takes `seconds` of the host.
int begin_call(const char* name, double seconds);
/// Whether FORETRAIN_STANDIN_FAIL names it: "wrong_gemm", "hang".
bool is_wanted(const char* name);

/// What a range of memory holds: element i is at(i).
struct Content {
  std::function<double(std::int64_t)> at;
  std::optional<double> constant;  ///< all are this
  std::optional<double> total;     ///< their sum, where it has a closed form
  static Content all(double value);
};

/// Of each GPU: kMemoryBytes, or what FORETRAIN_STANDIN_MEMORY says.
double memory_bytes();
bool is_on_device(const void* at);
/// nullptr when the device's memory is used up.
void* allocate(std::size_t bytes, int device);
bool release(void* data);
void put(void* to, std::int64_t count, Element element, Content content);
Content view(const void* from, std::int64_t count, Element element);
void move_bytes(void* to, const void* from, std::size_t bytes);
void clear_bytes(void* to, std::size_t bytes);

/// Enqueues a kernel of that length behind what the stream has; compute takes longer beside a collective.
void enqueue(CUstream_st& stream, double seconds, bool is_kernel = true);
/// A collective on streams of several GPUs: begins when the last is ready, ends on all at once.
void enqueue_together(const std::vector<CUstream_st*>& streams, double seconds, double tax);

/// Seconds of a kernel that moves so many bytes, or computes so many operations and moves the bytes.
double memory_seconds(double bytes);
double compute_seconds(double operations, double rate, double bytes);

}  // namespace standin
