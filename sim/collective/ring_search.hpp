// The widest ring or path through a few GPUs, given how many links are free between each two.
#pragma once

#include <vector>

namespace foretrain {

/// Free links from each of `size` places to each other, per direction.
class FreeLinks {
 public:
  explicit FreeLinks(int size) : size_(size), free_(static_cast<std::size_t>(size * size)) {}
  int size() const { return size_; }
  int& at(int from, int to) { return free_[static_cast<std::size_t>(from * size_ + to)]; }
  int at(int from, int to) const { return free_[static_cast<std::size_t>(from * size_ + to)]; }
  /// Takes one link of every edge along `order`, and of the edge that closes the ring.
  void take_path(const std::vector<int>& order);
  void take_ring(const std::vector<int>& order);

 private:
  int size_;
  std::vector<int> free_;
};

/// Of all rings through every place, one whose narrowest edge has the most free links; among these the one with the most free links
/// in all (which keeps rings apart), then the first in place order. Empty when there is none. Cost up to (size-1)!: size <= 8.
std::vector<int> widest_ring(const FreeLinks& links);

/// The same for a path through every place from `first` to `last`, two different places (or the only one).
std::vector<int> widest_path(const FreeLinks& links, int first, int last);

/// Rings of one link's width each, taken greedily until there is none left: once all of a ring's width at a time, and unless that
/// uses every link of some place, once one ring at a time; the larger set wins (the first, when they are equal). A DGX-1 needs the
/// former, a full mesh the latter.
std::vector<std::vector<int>> disjoint_rings(FreeLinks links);

}  // namespace foretrain
