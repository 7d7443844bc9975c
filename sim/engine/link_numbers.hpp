// Dense numbers for the links in use, in the order in which they are first met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// A hash table from LinkId to 0, 1, 2, … in the order of first use. Arrays over these numbers are as long as
/// the links in use, so idle links of a large cluster cost nothing. A look-up is O(1). Not thread-safe.
class LinkNumbers {
 public:
  /// Returns the link's number; a link that was not met before gets the next one.
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
  /// LinkIds by number.
  const std::vector<LinkId>& links() const { return links_; }

 private:
  /// Returns the place of the link in the hash table, or the free place where it would be put.
  std::size_t place_of(LinkId link) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t place = static_cast<std::size_t>((link * std::uint64_t{0x9e3779b97f4a7c15}) >> 40) & mask;
    while (places_[place] != kNone && links_[places_[place]] != link) place = (place + 1) & mask;
    return place;
  }
  /// Doubles the table and enters all links again.
  void grow() {
    places_.assign(2 * places_.size(), kNone);
    for (std::uint32_t number = 0; number < links_.size(); ++number)
      places_[place_of(links_[number])] = number;
  }

  std::vector<LinkId> links_;
  /// Numbers of links by hash place. The size is a power of two, and at most half of the places are taken.
  std::vector<std::uint32_t> places_ = std::vector<std::uint32_t>(64, kNone);
};

}  // namespace foretrain
