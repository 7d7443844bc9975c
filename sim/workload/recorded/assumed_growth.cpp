// Growth of sizes that were recorded at one batch alone: the sizes show which dimension the batch multiplies.
#include <algorithm>
#include <set>

#include "sim/workload/recorded/recorded_network.hpp"

namespace foretrain {
namespace {

/// Returns the dimensions as numbers; at one batch none has a growing part yet.
std::vector<std::int64_t> sides_of(const TensorSize& size) {
  std::vector<std::int64_t> sides;
  for (const Extent& extent : size.dimensions) sides.push_back(extent.fixed);
  return sides;
}

}  // namespace

// Sizes of parameters and buffers, and their transposes, do not grow whatever their dimensions are.
void assume_growth(RecordedNetwork& network) {
  std::set<std::vector<std::int64_t>> fixed;
  const auto fix = [&](SizeId id) {
    std::vector<std::int64_t> sides = sides_of(network.sizes[id]);
    fixed.insert(sides);
    std::reverse(sides.begin(), sides.end());
    fixed.insert(std::move(sides));
  };
  for (const RecordedParameter& parameter : network.parameters) fix(parameter.size);
  for (const RecordedBuffer& buffer : network.buffers) fix(buffer.size);
  // Every other size grows in its first dimension that is a multiple of the batch.
  for (TensorSize& size : network.sizes) {
    if (fixed.contains(sides_of(size))) continue;
    const auto grown = std::find_if(
        size.dimensions.begin(), size.dimensions.end(),
        [&](const Extent& extent) { return extent.fixed > 0 && extent.fixed % network.batch == 0; });
    if (grown == size.dimensions.end()) continue;
    // The whole dimension is taken to be in proportion to the batch.
    grown->per_sample = grown->fixed / network.batch;
    grown->fixed = 0;
  }
}

}  // namespace foretrain
