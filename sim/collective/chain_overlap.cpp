// Between nodes all channels have one order. Therefore only ranks of one node, and those of the root's node,
// can precede each other on different channels.
#include "sim/collective/chain_overlap.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Returns the largest difference of the places of two ranks over the channels, minus the smallest.
int spread(const std::vector<std::vector<int>>& places, std::size_t x, std::size_t y) {
  int most = places.front()[y] - places.front()[x], least = most;
  for (const std::vector<int>& along : places) {
    most = std::max(most, along[y] - along[x]);
    least = std::min(least, along[y] - along[x]);
  }
  return most - least;
}

/// Returns the place of each rank along the ring, counted from the root or from the rank after it.
std::vector<int> places_along(const std::vector<int>& order, bool from_root) {
  const std::size_t n = order.size();
  const auto root = static_cast<std::size_t>(std::ranges::find(order, 0) - order.begin());
  const std::size_t first = from_root ? root : root + 1;
  std::vector<int> places(n);
  for (std::size_t i = 0; i < n; ++i)
    places[static_cast<std::size_t>(order[(first + i) % n])] = static_cast<int>(i);
  return places;
}

}  // namespace

std::vector<std::vector<int>> chain_places(const nccl::Job& job, int channels, bool from_root) {
  std::vector<std::vector<int>> places;
  for (int c = 0; c < std::min(std::max(1, channels), job.search_channels); ++c) {
    std::vector<int> along = places_along(job.ring_order(c), from_root);
    if (std::ranges::find(places, along) == places.end()) places.push_back(std::move(along));
  }
  return places;
}

double waiting_hops(const std::vector<std::vector<int>>& places, int group) {
  if (places.size() < 2) return 0;
  const std::size_t n = places.front().size(), near = static_cast<std::size_t>(std::max(1, group));
  int most = 0;
  for (std::size_t y = 1; y < n; ++y) {
    for (std::size_t x = 0; x < std::min(near, y); ++x) most = std::max(most, spread(places, x, y));
    for (std::size_t x = std::max(near, y / near * near); x < y; ++x)
      most = std::max(most, spread(places, x, y));
  }
  // A call waits for half of the `most` hops that two calls need.
  return most / 2.0;
}

}  // namespace foretrain
