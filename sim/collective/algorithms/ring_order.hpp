// Ranks around a ring, counted modulo its length.
#pragma once

#include <span>

namespace foretrain {

/// A ring of ranks.
class RingOrder {
 public:
  explicit RingOrder(std::span<const int> order) : order_(order) {}
  int size() const { return static_cast<int>(order_.size()); }
  /// The rank at a place; places repeat every size(), also below zero.
  int rank(int place) const {
    const int wrapped = place % size();
    return order_[static_cast<std::size_t>(wrapped < 0 ? wrapped + size() : wrapped)];
  }
  int place_of(int rank_) const {
    for (int i = 0; i < size(); ++i) {
      if (rank(i) == rank_) return i;
    }
    return 0;
  }

 private:
  std::span<const int> order_;
};

}  // namespace foretrain
