// Packing of tensors into multi-tensor launches, as PyTorch's MultiTensorApply.cuh does it. Every launch
// takes a limited number of tensors and of chunks of 65,536 elements; a full launch is flushed and the next
// one begins.
#include <algorithm>
#include <array>

#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

namespace {

// Limits of one launch: tensors by number of lists, thread blocks (chunks), and elements of a chunk.
constexpr std::array<std::int64_t, 5> kMostTensors{110, 64, 48, 36, 30};  // by number of lists
constexpr std::int64_t kMostBlocks = 320;
constexpr std::int64_t kChunk = 65'536;
constexpr std::int64_t kMostChunks =
    std::int64_t{1} << 24;  // beyond 10^12 elements chunks grow, so that the list stays short

std::int64_t chunk_size(const std::vector<std::int64_t>& tensors) {
  std::int64_t total = 0;
  for (const std::int64_t elements : tensors) total += elements;
  return std::max(kChunk, total / kMostChunks);
}

/// True for launches that one simulated task can stand for.
bool is_alike(const OptimizerLaunch& a, const OptimizerLaunch& b) {
  return a.bytes == b.bytes && a.host == b.host && a.flops.count == b.flops.count;
}

}  // namespace

std::vector<OptimizerLaunch> counted_launches(std::vector<OptimizerLaunch> launches, std::size_t most) {
  if (launches.size() <= most) return launches;
  // An entry holds at most `longest` launches, so that no task swallows the whole list.
  const auto longest = static_cast<int>((launches.size() + most - 1) / most);
  std::vector<OptimizerLaunch> out;
  for (const OptimizerLaunch& launch : launches) {
    if (!out.empty() && is_alike(out.back(), launch) && out.back().count < longest)
      ++out.back().count;
    else
      out.push_back(launch);
  }
  return out;
}

// A tensor that is cut by a full launch continues as the first tensor of the next launch.
std::vector<std::int64_t> packed_elements(const std::vector<std::int64_t>& tensors, int lists) {
  const std::int64_t chunk = chunk_size(tensors),
                     most_tensors = kMostTensors[static_cast<std::size_t>(lists) - 1];
  std::vector<std::int64_t> launches;
  std::int64_t elements = 0, blocks = 0, tensors_inside = 0;
  const auto flush = [&] { launches.push_back(elements), elements = blocks = tensors_inside = 0; };
  for (std::int64_t left : tensors) {
    while (left > 0) {
      // `taken` are the chunks of this tensor that still fit into the launch.
      const std::int64_t taken = std::min((left - 1) / chunk + 1, kMostBlocks - blocks);
      const std::int64_t moved = left / chunk < taken ? left : taken * chunk;
      elements += moved, blocks += taken, left -= moved, ++tensors_inside;
      if (blocks == kMostBlocks || (left == 0 && tensors_inside == most_tensors)) flush();
    }
  }
  if (elements > 0) flush();
  return launches;
}

}  // namespace foretrain
