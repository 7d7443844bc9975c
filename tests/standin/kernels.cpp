// The program's kernels on the made-up machine, in the place of gpu/kernels.cu.
#include "calibrate/micro/gpu/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "calibrate/micro/plan/verify.hpp"
#include "tests/standin/constants.hpp"
#include "tests/standin/device.hpp"

namespace foretrain::micro {

namespace {

using standin::Content;

/// The last write to a flag: what a thread that waits for it sees, and when.
struct Flag {
  std::mutex guard;
  double time = 0;
};
Flag flag;

double bytes_of_elements(Element element, std::int64_t count) {
  return static_cast<double>(count) * (element == Element::fp64 ? 8 : element == Element::fp32 ? 4 : 2);
}

/// A launch of a kernel of that length; every launch may fail as "launch".
cudaError_t launch_kernel(cudaStream_t stream, double seconds) {
  const int failed = standin::begin_call("launch", standin::kLaunchCall);
  if (failed != 0) return static_cast<cudaError_t>(failed);
  if (stream->captured >= 0)
    ++stream->captured;
  else
    standin::enqueue(*stream, seconds);
  return cudaSuccess;
}

double memory_kernel(std::int64_t floats, int tensors) {
  return standin::memory_seconds(4.0 * static_cast<double>(floats) * tensors);
}

/// Of many elements some: what is wrong is wrong everywhere here.
template <class Visit>
std::int64_t visit_some(std::int64_t count, const Visit& visit) {
  constexpr std::int64_t kMost = 4096;
  const std::int64_t step = std::max<std::int64_t>(1, count / kMost);
  for (std::int64_t i = 0; i < count; i += step) visit(i);
  return step;
}

}  // namespace

cudaError_t launch_empty(cudaStream_t stream) { return launch_kernel(stream, standin::kMinimum); }

cudaError_t launch_spin(std::int64_t nanoseconds, cudaStream_t stream) {
  return launch_kernel(stream, static_cast<double>(nanoseconds) * 1e-9);
}

cudaError_t launch_flag(volatile std::uint32_t* word, std::uint32_t value, std::int64_t nanoseconds,
                        cudaStream_t stream) {
  const double before = stream->ready;
  const cudaError_t failed = launch_kernel(stream, static_cast<double>(nanoseconds) * 1e-9);
  if (failed != cudaSuccess) return failed;
  const std::lock_guard<std::mutex> locked(flag.guard);
  flag.time = std::max(before, stream->ready);
  *word = value;
  return cudaSuccess;
}

void wait_for_flag(const volatile std::uint32_t*, std::uint32_t) {
  const std::lock_guard<std::mutex> locked(flag.guard);
  standin::advance_to(flag.time);
}

cudaError_t launch_copy(const float* from, float* to, std::int64_t count, cudaStream_t stream) {
  const cudaError_t failed = launch_kernel(stream, memory_kernel(count, 2));
  if (failed == cudaSuccess)
    standin::put(to, count, Element::fp32, standin::view(from, count, Element::fp32));
  return failed;
}

cudaError_t launch_add(const float* a, const float* b, float* sum, std::int64_t count, cudaStream_t stream) {
  const cudaError_t failed = launch_kernel(stream, memory_kernel(count, 3));
  if (failed != cudaSuccess) return failed;
  const Content x = standin::view(a, count, Element::fp32), y = standin::view(b, count, Element::fp32);
  standin::put(sum, count, Element::fp32, {[x, y](std::int64_t i) { return x.at(i) + y.at(i); }, {}, {}});
  return cudaSuccess;
}

cudaError_t launch_reduce(const float* from, float* total, std::int64_t count, cudaStream_t stream) {
  const cudaError_t failed = launch_kernel(stream, memory_kernel(count, 1));
  if (failed != cudaSuccess) return failed;
  const Content content = standin::view(from, count, Element::fp32);
  double sum = 0;
  const std::int64_t step = visit_some(count, [&](std::int64_t i) { sum += content.at(i); });
  *total +=
      static_cast<float>(sum * static_cast<double>(step) * (standin::is_wanted("wrong_memory") ? 2 : 1));
  return cudaSuccess;
}

cudaError_t launch_fill_pattern(Element element, void* to, std::int64_t count, std::uint32_t seed,
                                double scale, cudaStream_t stream) {
  const cudaError_t failed =
      launch_kernel(stream, standin::memory_seconds(bytes_of_elements(element, count)));
  if (failed != cudaSuccess) return failed;
  const auto at = [seed, scale](std::int64_t i) {
    return scale * pattern(static_cast<std::uint64_t>(i), seed);
  };
  standin::put(to, count, element, {at, {}, {}});
  return cudaSuccess;
}

cudaError_t launch_fill(Element element, void* to, std::int64_t count, double value, cudaStream_t stream) {
  const cudaError_t failed =
      launch_kernel(stream, standin::memory_seconds(bytes_of_elements(element, count)));
  if (failed == cudaSuccess) standin::put(to, count, element, Content::all(value));
  return failed;
}

cudaError_t launch_fill_rank(float* to, std::int64_t count, int rank, cudaStream_t stream) {
  const cudaError_t failed = launch_kernel(stream, memory_kernel(count, 1));
  if (failed != cudaSuccess) return failed;
  standin::put(to, count, Element::fp32,
               {[rank](std::int64_t i) { return static_cast<double>((rank + 1) * (1 + i % 7)); }, {}, {}});
  return cudaSuccess;
}

cudaError_t launch_sum(Element element, const void* from, std::int64_t count, double* total,
                       cudaStream_t stream) {
  const cudaError_t failed =
      launch_kernel(stream, standin::memory_seconds(bytes_of_elements(element, count)));
  if (failed != cudaSuccess) return failed;
  const Content content = standin::view(from, count, element);
  if (content.total) return *total += *content.total, cudaSuccess;
  for (std::int64_t i = 0; i < count; ++i) *total += content.at(i);
  return cudaSuccess;
}

cudaError_t launch_count_wrong(Element element, const void* from, std::int64_t count, double value,
                               double tolerance, unsigned long long* wrong, cudaStream_t stream) {
  const cudaError_t failed =
      launch_kernel(stream, standin::memory_seconds(bytes_of_elements(element, count)));
  if (failed != cudaSuccess) return failed;
  const Content content = standin::view(from, count, element);
  visit_some(count, [&](std::int64_t i) {
    if (!(std::abs(content.at(i) - value) <= tolerance * std::abs(value))) ++*wrong;
  });
  return cudaSuccess;
}

cudaError_t launch_fill_words(std::uint32_t* to, std::int64_t words, std::uint32_t offset,
                              cudaStream_t stream) {
  const cudaError_t failed = launch_kernel(stream, memory_kernel(words, 1));
  for (std::int64_t i = 0; failed == cudaSuccess && i < words; ++i)
    to[i] = copied_word(static_cast<std::uint64_t>(i), offset);
  return failed;
}

}  // namespace foretrain::micro
