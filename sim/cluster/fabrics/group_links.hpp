// The links between groups of a dragonfly: the same number between every two groups, dealt out over the
// switches of a group.
#pragma once

#include <cstdint>

namespace foretrain {

/// Returns the place of a pair of different numbers in the sequence (0,1), (0,2), (1,2), (0,3), … It does not
/// depend on how many numbers there are, so link numbers do not change with the number of groups. Requires
/// low < high.
inline std::uint32_t place_of_pair(int low, int high) {
  const std::uint32_t h = static_cast<std::uint32_t>(high);
  return h * (h - 1) / 2 + static_cast<std::uint32_t>(low);
}

/// Returns the switch of `group` at which link `number` (of `links`) to group `other` begins. The links to
/// the next group come first, then those to the one after it, in turn over the switches. This is the relative
/// arrangement of Kim et al. 2008, "Technology-driven, highly-scalable dragonfly topology".
inline int gateway(int group, int other, int number, int links, int groups, int switches) {
  const std::int64_t offset = (other - group - 1 + groups) % groups;
  return static_cast<int>((offset * links + number) % switches);
}

}  // namespace foretrain
