// Reads of rows from the first-level cache. Sizes of caches and of multiprocessors: NVIDIA's CUDA C++
// Programming Guide, table of compute capabilities, and the architectures' tuning guides.
#include "sim/workload/device/row_passes.hpp"

#include <algorithm>

namespace foretrain {
namespace {

/// Cost of a cached read over that from memory, from layer norms and softmaxes of the GPUs in
/// docs/models/kernels.md.
constexpr double kCachedRead = 1.0 / 3;

double first_level_bytes(const Gpu& gpu) {
  constexpr double kKiB = 1024;
  switch (gpu.architecture) {
    case Architecture::pascal:
      return (gpu.compute_capability > 6.05 ? 48 : 24) * kKiB;
    case Architecture::volta:
      return 128 * kKiB;
    case Architecture::turing:
      return 64 * kKiB;
    case Architecture::ampere:
      return (gpu.compute_capability > 8.05 ? 128 : 192) * kKiB;
    case Architecture::ada:
      return 128 * kKiB;
    case Architecture::hopper:
    case Architecture::blackwell:
      return 256 * kKiB;
    case Architecture::cpu:
    case Architecture::kepler:
    case Architecture::cdna:
    case Architecture::cdna2:
    case Architecture::cdna3:
      break;
  }
  return 16 * kKiB;  // AMD's GPUs have it too (CDNA white papers)
}

/// Returns the threads that a multiprocessor holds at most.
int most_threads(const Gpu& gpu) {
  if (gpu.architecture == Architecture::turing) return 1024;
  return gpu.compute_capability > 8.05 && gpu.compute_capability < 8.95 ? 1536 : 2048;
}

}  // namespace

double row_passes(const Gpu& gpu, double row_bytes, int again, int block_threads) {
  constexpr int kMostBlocks = 32;
  const int blocks = std::clamp(most_threads(gpu) / std::max(block_threads, 1), 1, kMostBlocks);
  const bool is_cached = blocks * row_bytes <= first_level_bytes(gpu);
  return 1 + again / 2.0 * (is_cached ? kCachedRead : 1);
}

int softmax_threads(std::int64_t columns) {
  constexpr std::int64_t kNumbersAtOnce = 4, kMost = 1024;
  const std::int64_t most = std::min(columns / kNumbersAtOnce, kMost);
  int threads = 1;
  while (2 * threads < most) threads *= 2;
  return std::max(threads, 32);
}

}  // namespace foretrain
