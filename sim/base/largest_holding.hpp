// Search for the largest whole number with a property, by doubling and then by halving.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace foretrain {

/// Returns a number from 1 to `most` for which `holds` is true, while its successor is beyond `most` or
/// fails. Returns 0 if it fails for 1. For a property that larger numbers lose for good, the result is the
/// largest number that has it. Calls `holds` about 2 log2(result) times. Requires 1 <= most <= 2^62.
template <class Holds>
std::int64_t largest_holding(std::int64_t most, Holds holds) {
  assert(most >= 1 && most <= std::int64_t{1} << 62);  // twice a smaller number does not overflow
  if (!holds(1)) return 0;
  std::int64_t good = 1, bad = most + 1;
  // Doubling: `good` holds, and `bad` fails or is beyond `most`.
  while (good < most) {
    const std::int64_t next = std::min(2 * good, most);
    if (!holds(next)) {
      bad = next;
      break;
    }
    good = next;
  }
  // Bisection of the gap between `good` and `bad`.
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace foretrain
