// The median of a list of numbers.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace foretrain {

/// Returns the median; of an even number of values the mean of the middle two. Requires at least one value.
/// n log n in the number of values.
inline double median(std::vector<double> values) {
  assert(!values.empty());
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace foretrain
