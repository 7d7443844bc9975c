// Both trees have the same shape: the second is the first with other place numbers.
//
// The second tree is a mirror image for an even number of ranks, and a shift by one for an odd number. In
// both cases an inner node of one tree is a leaf of the other (docs/sources/nccl_tuning.md 4.3).
#include "sim/collective/algorithms/double_tree.hpp"

#include <algorithm>

#include "sim/collective/nccl/double_tree.hpp"

namespace foretrain {

namespace {

std::size_t index_of(int place) { return static_cast<std::size_t>(place); }

/// Returns in how many trees `parent` is above `child`.
int edges(const DoubleTree& trees, int parent, int child) {
  return (trees.first[index_of(child)] == parent ? 1 : 0) + (trees.second[index_of(child)] == parent ? 1 : 0);
}

}  // namespace

DoubleTree double_tree(int n) {
  DoubleTree trees;
  for (int node = 0; node < n; ++node) {
    const nccl::DoubleTreePlace place = nccl::double_tree_place(node, n);
    trees.first.push_back(place.first.parent);
    trees.second.push_back(place.second.parent);
  }
  return trees;
}

int depth_of(const DoubleTree& trees) { return std::max(depth_of(trees.first), depth_of(trees.second)); }

DoubleTreeLoad most_of(const DoubleTree& trees) {
  const std::vector<int> a = children_of(trees.first), b = children_of(trees.second);
  DoubleTreeLoad most;
  for (int p = 0; p < std::ssize(a); ++p) {
    const int children = a[index_of(p)] + b[index_of(p)];
    most.children = std::max(most.children, children);
    int parents = 0;
    for (const int parent : {trees.first[index_of(p)], trees.second[index_of(p)]}) {
      if (parent < 0) continue;
      ++parents;
      most.one_way = std::max(most.one_way, edges(trees, parent, p));
      most.both_ways = std::max(most.both_ways, edges(trees, parent, p) + edges(trees, p, parent));
    }
    most.neighbours = std::max(most.neighbours, children + parents);
  }
  return most;
}

}  // namespace foretrain
