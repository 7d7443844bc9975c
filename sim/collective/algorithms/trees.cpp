// Trees as lanes. Pipelining is in the needs: piece k waits for piece k only, so pieces follow each other up
// and down.
//
// Reduction and broadcast are the same lanes with the direction turned. A rank with k children waits for k
// messages before it sends one up; on the way down it sends k. The depth of the tree counts in latency, the
// largest number of children in bandwidth.
#include "sim/collective/algorithms/trees.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace foretrain {

namespace {

std::size_t at(int place) { return static_cast<std::size_t>(place); }

/// Returns the lane that carries the pieces of a tree over one edge.
Lane piece_lane(const Lanes& lanes, int from, int to, TreePieces pieces, int first_copy) {
  return {.from = from,
          .to = to,
          .messages = pieces.pieces,
          .first = pieces.first,
          .stride = pieces.stride,
          .wrap = lanes.chunks,
          .first_copy = first_copy};
}

/// The children of all places in one array, built by a counting sort.
class Children {
 public:
  explicit Children(const Tree& tree) : first_(tree.size() + 1), list_(tree.size()) {
    for (const int parent : tree) {
      if (parent >= 0) ++first_[at(parent) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<int> next = first_;
    for (int p = 0; p < std::ssize(tree); ++p) {
      if (tree[at(p)] >= 0) list_[at(next[at(tree[at(p)])]++)] = p;
    }
  }
  std::span<const int> of(int place) const {
    return std::span(list_).subspan(at(first_[at(place)]), at(first_[at(place) + 1] - first_[at(place)]));
  }

 private:
  std::vector<int> first_, list_;
};

/// Returns the places with parents before their children, without those that are not in the tree.
std::vector<int> from_root(const Tree& tree, const Children& children) {
  std::vector<int> places;
  places.reserve(tree.size());
  for (int p = 0; p < std::ssize(tree); ++p) {
    if (tree[at(p)] < 0 && !children.of(p).empty()) places.push_back(p);
  }
  for (std::size_t next = 0; next < places.size(); ++next) {
    const std::span<const int> below = children.of(places[next]);
    places.insert(places.end(), below.begin(), below.end());
  }
  return places;
}

}  // namespace

int depth_of(const Tree& tree) {
  std::vector<int> depth(tree.size());
  int deepest = 0;
  for (const int p : from_root(tree, Children(tree))) {
    if (tree[at(p)] >= 0) depth[at(p)] = depth[at(tree[at(p)])] + 1;
    deepest = std::max(deepest, depth[at(p)]);
  }
  return deepest;
}

std::vector<int> children_of(const Tree& tree) {
  std::vector<int> children(tree.size());
  for (const int parent : tree) {
    if (parent >= 0) ++children[at(parent)];
  }
  return children;
}

Tree chain(int n) {
  Tree tree(at(n));
  for (int p = 0; p < n; ++p) tree[at(p)] = p - 1;
  return tree;
}

Tree star(int n) {
  Tree tree(at(n), 0);
  tree[0] = -1;
  return tree;
}

Tree binary_tree(int n) {
  Tree tree(at(n), -1);
  for (int p = 1; p < n; ++p) tree[at(p)] = (p - 1) / 2;
  return tree;
}

Tree binomial_tree(int n) {
  Tree tree(at(n), -1);
  for (int p = 1; p < n; ++p) tree[at(p)] = p - static_cast<int>(std::bit_floor(static_cast<unsigned>(p)));
  return tree;
}

Tree with_chains(const Tree& over_groups, const std::vector<int>& group_sizes) {
  std::vector<int> first(group_sizes.size());
  int places = 0;
  for (std::size_t g = 0; g < group_sizes.size(); ++g) {
    first[g] = places;
    places += group_sizes[g];
  }
  Tree tree = chain(places);
  for (std::size_t g = 0; g < group_sizes.size(); ++g)
    tree[at(first[g])] = over_groups[g] < 0 ? -1 : first[at(over_groups[g])];
  return tree;
}

std::vector<std::uint32_t> add_reduce(Lanes& lanes, const Tree& tree, TreePieces pieces,
                                      const NeedsByPlace& starts) {
  std::vector<std::uint32_t> lane_of(tree.size());
  const Children children(tree);
  const std::vector<int> places = from_root(tree, children);
  std::vector<LaneNeed> needs;
  // Children come after their parents in `places`, so backward order has the lanes of all children before
  // that of a place.
  for (std::size_t i = places.size(); i-- > 0;) {
    const int place = places[i], parent = tree[at(place)];
    if (parent < 0) continue;
    needs.clear();
    if (!starts.empty()) needs = starts[at(place)];
    for (const int child : children.of(place)) needs.push_back({lane_of[at(child)], 0});
    lane_of[at(place)] = add_lane(lanes, piece_lane(lanes, place, parent, pieces, pieces.pieces), needs);
  }
  return lane_of;
}

std::vector<std::uint32_t> add_broadcast(Lanes& lanes, const Tree& tree, TreePieces pieces,
                                         const std::vector<LaneNeed>& root_needs) {
  std::vector<std::uint32_t> lane_of(tree.size());
  std::vector<LaneNeed> needs;
  for (const int place : from_root(tree, Children(tree))) {
    const int parent = tree[at(place)];
    if (parent < 0) continue;
    needs.assign(1, {lane_of[at(parent)], 0});
    lane_of[at(place)] = add_lane(lanes, piece_lane(lanes, parent, place, pieces, 0),
                                  tree[at(parent)] < 0 ? root_needs : needs);
  }
  return lane_of;
}

void add_all_reduce(Lanes& lanes, const Tree& tree, TreePieces pieces, const NeedsByPlace& starts,
                    NeedsByPlace* done) {
  const std::vector<std::uint32_t> up = add_reduce(lanes, tree, pieces, starts);
  std::vector<LaneNeed> root_needs;
  int root = -1;
  for (std::size_t p = 0; p < tree.size(); ++p) {
    // The sums of the root's children complete the piece there.
    if (tree[p] < 0 || tree[at(tree[p])] >= 0) continue;
    root = tree[p];
    root_needs.push_back({up[p], 0});
    if (done != nullptr) (*done)[at(root)].push_back({up[p], 0});
  }
  if (root >= 0 && !starts.empty())
    root_needs.insert(root_needs.end(), starts[at(root)].begin(), starts[at(root)].end());
  const std::vector<std::uint32_t> down = add_broadcast(lanes, tree, pieces, root_needs);
  for (std::size_t p = 0; done != nullptr && p < tree.size(); ++p) {
    if (tree[p] >= 0) (*done)[p].push_back({down[p], 0});
  }
}

}  // namespace foretrain
