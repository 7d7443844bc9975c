// NCCL's two binary trees over nodes: an inner node of one tree is a leaf of the other.
#pragma once

#include <array>
#include <vector>

namespace foretrain::nccl {

/// The neighbours of a node in one tree; -1: none.
struct TreePlace {
  int parent = -1;
  std::array<int, 2> children{-1, -1};
  friend bool operator==(const TreePlace&, const TreePlace&) = default;
};

/// The place of one node in both trees of the double binary tree (docs/sources/nccl_tuning.md 4.3).
struct DoubleTreePlace {
  TreePlace first, second;
  friend bool operator==(const DoubleTreePlace&, const DoubleTreePlace&) = default;
};

/// Returns the place of `node` in the first tree over `nodes` nodes. Node 0 is the root with one child, and
/// odd nodes are leaves. The parent of a node whose lowest set bit is b has the lowest bit 2b, or a higher
/// one if that node is missing. Requires 0 <= node < nodes. O(log nodes).
TreePlace binary_tree_place(int node, int nodes);

/// Returns the place in both trees. The second tree is the first one over the nodes in mirrored order (even
/// number) or shifted by one (odd number), so that its leaves are the first tree's inner nodes (NCCL
/// src/graph/trees.cc).
DoubleTreePlace double_tree_place(int node, int nodes);
/// Returns the places of all nodes.
std::vector<DoubleTreePlace> double_tree_places(int nodes);

}  // namespace foretrain::nccl
