// The largest whole number for which something holds, looked for by doubling and then by halving.
#pragma once

#include <algorithm>
#include <cstdint>

namespace foretrain {

/// A number from 1 to `most` for which `holds`, and whose successor is beyond `most` or one for which it does
/// not; 0 where it does not hold for 1. With a property that larger numbers lose for good it is the largest.
/// Asks about 2 log2(answer) times. Requires most >= 1.
template <class Holds>
std::int64_t largest_holding(std::int64_t most, Holds holds) {
  if (!holds(1)) return 0;
  std::int64_t good = 1, bad = most + 1;
  while (good < most) {
    const std::int64_t next = std::min(2 * good, most);
    if (!holds(next)) {
      bad = next;
      break;
    }
    good = next;
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace foretrain
