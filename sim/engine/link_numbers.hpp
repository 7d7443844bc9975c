// Links numbered in the order in which they are first met, so that what few links concern is no longer than
// they are many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// Dense numbers for the links in use: a hash table from LinkId to 0, 1, 2, … in the order of first use. Idle
/// links of a large cluster then cost nothing. O(1) a look-up; not thread-safe.
class LinkNumbers {
 public:
  /// The link's number; the next free one when it was not met before.
  std::uint32_t of(LinkId link) {
    std::size_t place = place_of(link);
    if (places_[place] != kNone) return places_[place];
    if (2 * (links_.size() + 1) > places_.size()) {
      grow();
      place = place_of(link);
    }
    links_.push_back(link);
    return places_[place] = static_cast<std::uint32_t>(links_.size() - 1);
  }
  /// By number.
  const std::vector<LinkId>& links() const { return links_; }

 private:
  /// Where it is, or where it would be put.
  std::size_t place_of(LinkId link) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t place = static_cast<std::size_t>((link * std::uint64_t{0x9e3779b97f4a7c15}) >> 40) & mask;
    while (places_[place] != kNone && links_[places_[place]] != link) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    places_.assign(2 * places_.size(), kNone);
    for (std::uint32_t number = 0; number < links_.size(); ++number)
      places_[place_of(links_[number])] = number;
  }

  std::vector<LinkId> links_;
  /// A power of two, at most half full.
  std::vector<std::uint32_t> places_ = std::vector<std::uint32_t>(64, kNone);
};

}  // namespace foretrain
