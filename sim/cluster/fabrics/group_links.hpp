// How the groups of a dragonfly are joined: every two groups by the same number of links, dealt out over the
// switches of a group.
#pragma once

#include <cstdint>

namespace foretrain {

/// A pair of two different numbers in the triangle (0,1), (0,2), (1,2), (0,3), …: its place does not depend
/// on how many numbers there are.
inline std::uint32_t place_of_pair(int low, int high) {
  const std::uint32_t h = static_cast<std::uint32_t>(high);
  return h * (h - 1) / 2 + static_cast<std::uint32_t>(low);
}

/// The switch of `group` at which link `number` (of `links`) to group `other` begins: the links to the next
/// group first, then those to the one after it, in turn over the switches (Kim et al. 2008,
/// "Technology-driven, highly-scalable dragonfly topology", the relative arrangement).
inline int gateway(int group, int other, int number, int links, int groups, int switches) {
  const std::int64_t offset = (other - group - 1 + groups) % groups;
  return static_cast<int>((offset * links + number) % switches);
}

}  // namespace foretrain
