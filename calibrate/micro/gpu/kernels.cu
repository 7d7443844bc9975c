// Grid-stride loops over as many blocks as fill the GPU. 16-bit formats are converted by hand: nothing here
// needs a recent header.
#include <chrono>

#include <cuda_fp16.h>

#include "calibrate/micro/gpu/kernels.hpp"

namespace foretrain {
namespace micro {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 8192;

struct Bf16 {
  std::uint16_t bits;
};

__device__ void store(double value, double* to) { *to = value; }
__device__ void store(double value, float* to) { *to = static_cast<float>(value); }
__device__ void store(double value, __half* to) { *to = __float2half(static_cast<float>(value)); }
__device__ void store(double value, Bf16* to) {
  const std::uint32_t bits = __float_as_uint(static_cast<float>(value));
  to->bits =
      static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);  // to nearest, ties to even
}
__device__ double load(const double* from) { return *from; }
__device__ double load(const float* from) { return static_cast<double>(*from); }
__device__ double load(const __half* from) { return static_cast<double>(__half2float(*from)); }
__device__ double load(const Bf16* from) {
  return static_cast<double>(__uint_as_float(static_cast<std::uint32_t>(from->bits) << 16));
}

__device__ std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t index_step() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

__device__ std::uint64_t nanoseconds_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ void spin_for(std::int64_t nanoseconds) {
  const std::uint64_t end = nanoseconds_now() + static_cast<std::uint64_t>(nanoseconds);
  while (nanoseconds_now() < end) {
  }
}

/// atomicAdd of double needs sm_60, which every toolkit that compiles this has as its least or later one.
__device__ void add_to(double* total, double value) { atomicAdd(total, value); }

/// The sum over a warp, in its first thread.
template <class T>
__device__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void empty_kernel() {}
__global__ void spin_kernel(std::int64_t nanoseconds) { spin_for(nanoseconds); }
__global__ void flag_kernel(volatile std::uint32_t* flag, std::uint32_t value, std::int64_t nanoseconds) {
  if (nanoseconds > 0) spin_for(nanoseconds);
  *flag = value;
  __threadfence_system();
}

__global__ void copy_kernel(const float4* from, float4* to, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += index_step()) to[i] = from[i];
}
__global__ void add_kernel(const float4* a, const float4* b, float4* sum, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += index_step()) {
    const float4 x = a[i], y = b[i];
    sum[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}
__global__ void reduce_kernel(const float4* from, float* total, std::int64_t count) {
  float sum = 0;
  for (std::int64_t i = first_index(); i < count; i += index_step()) {
    const float4 x = from[i];
    sum += x.x + x.y + x.z + x.w;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

/// The same as pattern() of plan/verify.hpp.
__device__ int pattern_at(std::uint64_t index, std::uint32_t seed) {
  std::uint64_t x = (index + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  return static_cast<int>((x >> 40) % 5) - 2;
}

template <class T>
__global__ void fill_pattern_kernel(T* to, std::int64_t count, std::uint32_t seed, double scale) {
  for (std::int64_t i = first_index(); i < count; i += index_step())
    store(scale * pattern_at(static_cast<std::uint64_t>(i), seed), to + i);
}
template <class T>
__global__ void fill_kernel(T* to, std::int64_t count, double value) {
  for (std::int64_t i = first_index(); i < count; i += index_step()) store(value, to + i);
}
__global__ void fill_rank_kernel(float* to, std::int64_t count, int rank) {
  for (std::int64_t i = first_index(); i < count; i += index_step())
    to[i] = static_cast<float>((rank + 1) * (1 + i % 7));
}
template <class T>
__global__ void sum_kernel(const T* from, std::int64_t count, double* total) {
  double sum = 0;
  for (std::int64_t i = first_index(); i < count; i += index_step()) sum += load(from + i);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) add_to(total, sum);
}
template <class T>
__global__ void count_wrong_kernel(const T* from, std::int64_t count, double value, double tolerance,
                                   unsigned long long* wrong) {
  unsigned long long found = 0;
  for (std::int64_t i = first_index(); i < count; i += index_step()) {
    // Negated, so that NaN is wrong.
    if (!(fabs(load(from + i) - value) <= tolerance * fabs(value))) ++found;
  }
  found = warp_sum(found);
  if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(wrong, found);
}
__global__ void fill_words_kernel(std::uint32_t* to, std::int64_t words, std::uint32_t offset) {
  for (std::int64_t i = first_index(); i < words; i += index_step())
    to[i] = (static_cast<std::uint32_t>(i) + offset) * 2654435761u;
}

unsigned blocks_for(std::int64_t count) {
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > kMostBlocks ? kMostBlocks : blocks);
}

/// Calls function(T*) with the element's type.
template <class Function>
cudaError_t with_type(Element element, void* data, Function function) {
  switch (element) {
    case Element::fp16:
      function(static_cast<__half*>(data));
      break;
    case Element::bf16:
      function(static_cast<Bf16*>(data));
      break;
    case Element::fp32:
      function(static_cast<float*>(data));
      break;
    case Element::fp64:
      function(static_cast<double*>(data));
      break;
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_empty(cudaStream_t stream) {
  empty_kernel<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_spin(std::int64_t nanoseconds, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

cudaError_t launch_flag(volatile std::uint32_t* flag, std::uint32_t value, std::int64_t nanoseconds,
                        cudaStream_t stream) {
  flag_kernel<<<1, 1, 0, stream>>>(flag, value, nanoseconds);
  return cudaGetLastError();
}

void wait_for_flag(const volatile std::uint32_t* flag, std::uint32_t value) {
  constexpr unsigned kSpinsPerLook = 1u << 20;  // a few milliseconds: looking at the clock would be measured
  constexpr std::chrono::seconds kPatience(10);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (unsigned spins = 1; *flag != value; ++spins) {
    if (spins % kSpinsPerLook == 0 && std::chrono::steady_clock::now() > end) return;
  }
}

cudaError_t launch_copy(const float* from, float* to, std::int64_t count, cudaStream_t stream) {
  copy_kernel<<<blocks_for(count / 4), kThreads, 0, stream>>>(reinterpret_cast<const float4*>(from),
                                                              reinterpret_cast<float4*>(to), count / 4);
  return cudaGetLastError();
}

cudaError_t launch_add(const float* a, const float* b, float* sum, std::int64_t count, cudaStream_t stream) {
  add_kernel<<<blocks_for(count / 4), kThreads, 0, stream>>>(reinterpret_cast<const float4*>(a),
                                                             reinterpret_cast<const float4*>(b),
                                                             reinterpret_cast<float4*>(sum), count / 4);
  return cudaGetLastError();
}

cudaError_t launch_reduce(const float* from, float* total, std::int64_t count, cudaStream_t stream) {
  reduce_kernel<<<blocks_for(count / 16), kThreads, 0, stream>>>(reinterpret_cast<const float4*>(from), total,
                                                                 count / 4);
  return cudaGetLastError();
}

cudaError_t launch_fill_pattern(Element element, void* to, std::int64_t count, std::uint32_t seed,
                                double scale, cudaStream_t stream) {
  return with_type(element, to, [&](auto* typed) {
    fill_pattern_kernel<<<blocks_for(count), kThreads, 0, stream>>>(typed, count, seed, scale);
  });
}

cudaError_t launch_fill(Element element, void* to, std::int64_t count, double value, cudaStream_t stream) {
  return with_type(element, to, [&](auto* typed) {
    fill_kernel<<<blocks_for(count), kThreads, 0, stream>>>(typed, count, value);
  });
}

cudaError_t launch_fill_rank(float* to, std::int64_t count, int rank, cudaStream_t stream) {
  fill_rank_kernel<<<blocks_for(count), kThreads, 0, stream>>>(to, count, rank);
  return cudaGetLastError();
}

cudaError_t launch_sum(Element element, const void* from, std::int64_t count, double* total,
                       cudaStream_t stream) {
  return with_type(element, const_cast<void*>(from), [&](auto* typed) {
    sum_kernel<<<blocks_for(count), kThreads, 0, stream>>>(typed, count, total);
  });
}

cudaError_t launch_count_wrong(Element element, const void* from, std::int64_t count, double value,
                               double tolerance, unsigned long long* wrong, cudaStream_t stream) {
  return with_type(element, const_cast<void*>(from), [&](auto* typed) {
    count_wrong_kernel<<<blocks_for(count), kThreads, 0, stream>>>(typed, count, value, tolerance, wrong);
  });
}

cudaError_t launch_fill_words(std::uint32_t* to, std::int64_t words, std::uint32_t offset,
                              cudaStream_t stream) {
  fill_words_kernel<<<blocks_for(words), kThreads, 0, stream>>>(to, words, offset);
  return cudaGetLastError();
}

}  // namespace micro
}  // namespace foretrain
