// Depth-first over the orders of places; a branch ends where an edge is narrower than the best ring's narrowest.
#include "sim/collective/ring_search.hpp"

#include <algorithm>
#include <limits>

namespace foretrain {

namespace {

/// Looks for the best way from the first place over all others to the goal (which may be the first place again: a ring).
class Search {
 public:
  Search(const FreeLinks& links, int first, int goal) : links_(links), goal_(goal), seen_(static_cast<std::size_t>(links.size())) {
    visit(first);
    if (goal != first) seen_[static_cast<std::size_t>(goal)] = true;
    extend(std::numeric_limits<int>::max(), 0);
  }
  const std::vector<int>& best() const { return best_; }

 private:
  void visit(int place) {
    path_.push_back(place);
    seen_[static_cast<std::size_t>(place)] = true;
  }

  void extend(int narrowest, int total) {
    const int here = path_.back();
    const int ahead = links_.size() - static_cast<int>(path_.size()) - (goal_ == path_.front() ? 0 : 1);
    if (ahead == 0) return finish(std::min(narrowest, links_.at(here, goal_)), total + links_.at(here, goal_));
    for (int next = 0; next < links_.size(); ++next) {
      const int free = links_.at(here, next);
      if (seen_[static_cast<std::size_t>(next)] || free == 0 || free < best_narrowest_) continue;
      visit(next);
      extend(std::min(narrowest, free), total + free);
      path_.pop_back();
      seen_[static_cast<std::size_t>(next)] = false;
    }
  }

  void finish(int narrowest, int total) {
    if (narrowest == 0 || narrowest < best_narrowest_) return;
    if (narrowest == best_narrowest_ && total <= best_total_) return;
    best_narrowest_ = narrowest;
    best_total_ = total;
    best_ = path_;
    if (goal_ != path_.front()) best_.push_back(goal_);
  }

  const FreeLinks& links_;
  int goal_;
  std::vector<bool> seen_;
  std::vector<int> path_, best_;
  int best_narrowest_ = 0, best_total_ = 0;
};

constexpr std::size_t kMostSingleRings = 64;  ///< beyond, searching for each ring alone takes too long

enum class Greed { whole_width, one_at_a_time };

int width_of(const FreeLinks& links, const std::vector<int>& ring) {
  int width = links.at(ring.back(), ring.front());
  for (std::size_t i = 0; i + 1 < ring.size(); ++i) width = std::min(width, links.at(ring[i], ring[i + 1]));
  return width;
}

std::vector<std::vector<int>> greedy_rings(FreeLinks links, Greed greed) {
  std::vector<std::vector<int>> rings;
  for (std::vector<int> ring = widest_ring(links); !ring.empty(); ring = widest_ring(links)) {
    const int copies = greed == Greed::whole_width ? width_of(links, ring) : 1;
    for (int copy = 0; copy < copies; ++copy) {
      links.take_ring(ring);
      rings.push_back(ring);
    }
  }
  return rings;
}

/// No set of rings can be larger than the links out of one place.
int most_rings(const FreeLinks& links) {
  int most = std::numeric_limits<int>::max();
  for (int from = 0; from < links.size(); ++from) {
    int out = 0;
    for (int to = 0; to < links.size(); ++to) out += links.at(from, to);
    most = std::min(most, out);
  }
  return most;
}

}  // namespace

void FreeLinks::take_path(const std::vector<int>& order) {
  for (std::size_t i = 0; i + 1 < order.size(); ++i) --at(order[i], order[i + 1]);
}

void FreeLinks::take_ring(const std::vector<int>& order) {
  take_path(order);
  --at(order.back(), order.front());
}

std::vector<int> widest_ring(const FreeLinks& links) { return links.size() < 2 ? std::vector<int>{} : Search(links, 0, 0).best(); }

std::vector<int> widest_path(const FreeLinks& links, int first, int last) {
  if (links.size() == 1) return {first};
  return Search(links, first, last).best();
}

std::vector<std::vector<int>> disjoint_rings(FreeLinks links) {
  std::vector<std::vector<int>> wide = greedy_rings(links, Greed::whole_width);
  const std::size_t most = static_cast<std::size_t>(most_rings(links));
  if (wide.size() >= most || most > kMostSingleRings) return wide;
  std::vector<std::vector<int>> single = greedy_rings(links, Greed::one_at_a_time);
  return single.size() > wide.size() ? single : wide;
}

}  // namespace foretrain
