// Numbers for the directions of an image or volume.
#include "sim/workload/layers/layer.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace foretrain {

Sides::Sides(const std::vector<std::int64_t>& values) : count(static_cast<std::uint8_t>(values.size())) {
  assert(!values.empty() && values.size() <= value.size());
  std::copy(values.begin(), values.end(), value.begin());
  if (count == 1) value.fill(values[0]);
}

std::int64_t Sides::least() const { return *std::min_element(value.begin(), value.begin() + count); }
std::int64_t Sides::most() const { return *std::max_element(value.begin(), value.begin() + count); }

std::string to_string(const Sides& sides) {
  if (sides.count == 1) return std::to_string(sides.value[0]);
  return fmt::format("[{}]", fmt::join(sides.value.begin(), sides.value.begin() + sides.count, ", "));
}

}  // namespace foretrain
