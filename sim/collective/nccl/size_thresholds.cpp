// Logs of 2.4 on Volta print "Using 256 threads" (unverified, from memory). Those of a DGX-1 and a DGX-2 jump
// at the size at which 256 threads on each channel of the search, counted once, have 64 bytes.
#include "sim/collective/nccl/size_thresholds.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace foretrain::nccl {

namespace {

constexpr int kLeastThreads = 64, kMostThreads = 256, kSyncWarp = 32;
/// Bytes of a chunk per thread: before another channel is used, and before LL is given up. Trees (pipelines
/// in both directions) use LL four times as long.
constexpr std::int64_t kPerThread = 8, kMostPerThread = 64, kTreeFactor = 4;

std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns the chunks of a loop: a ring moves as many chunks around as there are ranks, a chain or tree moves
/// one.
std::int64_t chunks_per_loop(const RunSetting& setting, CollectiveOp op, Algorithm algorithm) {
  const bool around =
      algorithm == Algorithm::ring && op != CollectiveOp::broadcast && op != CollectiveOp::reduce;
  return around ? std::max(1, setting.ranks) : 1;
}

}  // namespace

std::int64_t tree_threshold(const RunSetting& setting, bool nvlink) {
  constexpr double kRingStep = 6, kTreeStep = 15, kTreeInner = 4;  // us
  constexpr double kRate = 5000;                                   // MB/s of a ring
  if (setting.version < kFirstTrees || setting.nodes < 2) return 0;
  const double ring = kRate * (nvlink ? std::max(1, setting.channels) : 1);
  const double tree = ring * (!nvlink ? 2.0 / 3 : setting.nodes == 2 ? 1.5 : 0.75);
  const int levels = std::bit_width(static_cast<unsigned>(setting.nodes)) - 1;
  // The latency that a tree saves, which its lower rate costs from the threshold on.
  const double saved =
      kRingStep * (setting.ranks - 1) - kTreeStep * levels - kTreeInner * (setting.ranks / setting.nodes - 1);
  if (saved <= 0) return 0;
  if (tree > ring) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(ring * tree / (ring - tree) * saved);
}

ThresholdChoice choose_by_size(const RunSetting& setting, CollectiveOp op, Algorithm algorithm,
                               std::int64_t bytes) {
  const std::int64_t chunks = chunks_per_loop(setting, op, algorithm);
  std::int64_t threads = kLeastThreads;
  while (ceil_of(bytes, threads * chunks) > kPerThread && threads < kMostThreads) threads *= 2;
  const std::int64_t channels = std::clamp<std::int64_t>(ceil_of(bytes, threads * chunks * kPerThread), 1,
                                                         std::max(1, setting.channels));
  const std::int64_t most = kMostPerThread * (algorithm == Algorithm::ring ? 1 : kTreeFactor);
  if (bytes <= channels * threads * chunks * most)
    return {Protocol::ll, {static_cast<int>(channels), static_cast<int>(threads)}};
  return {Protocol::simple, {std::max(1, setting.channels), kMostThreads + kSyncWarp}};
}

}  // namespace foretrain::nccl
