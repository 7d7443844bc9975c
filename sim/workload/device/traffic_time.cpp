// Memory traffic and overlap. Constants and their sources: docs/models/kernels.md.
#include "sim/workload/device/traffic_time.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {
namespace {

/// Share of the cache that holds what the last kernels wrote; assumed.
constexpr double kCacheHeld = 0.5;

}  // namespace

double achieved_bandwidth(const Gpu& gpu) { return gpu.memory_bandwidth.per_second * gpu.memory_efficiency; }

double memory_seconds(double bytes, const Gpu& gpu, const KernelCalibration& calibration) {
  if (!(bytes > 0)) return 0;
  const double hit = std::min(1.0, kCacheHeld * static_cast<double>(gpu.l2_cache.count) / bytes);
  return bytes / achieved_bandwidth(gpu) * (1 - hit + hit / calibration.cache_speed);
}

double overlapped(double arithmetic, double memory, double power) {
  const double longer = std::max(arithmetic, memory), shorter = std::min(arithmetic, memory);
  // The scaled form avoids overflow of the powers and handles an infinite or zero time.
  if (!std::isfinite(longer)) return longer;
  return longer > 0 ? longer * std::pow(1 + std::pow(shorter / longer, power), 1 / power) : 0;
}

double fixed_seconds(int kernels, const KernelCalibration& calibration) {
  return kernels * to_seconds(calibration.launch_gap + calibration.minimum);
}

}  // namespace foretrain
