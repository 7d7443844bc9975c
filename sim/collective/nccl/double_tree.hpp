// NCCL's two binary trees over nodes: whoever is an inner node of one is a leaf of the other.
#pragma once

#include <array>
#include <vector>

namespace foretrain::nccl {

/// -1: none.
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

/// Place of `node` in the first tree over `nodes` nodes: node 0 is the root with one child; odd nodes are
/// leaves; a node whose lowest set bit is b hangs below one whose lowest bit is 2b. Requires 0 <= node <
/// nodes.
TreePlace binary_tree_place(int node, int nodes);

/// The second tree is the first over the nodes in mirrored order (even count) or moved on by one (odd count),
/// so that its leaves are the first tree's inner nodes (NCCL src/graph/trees.cc).
DoubleTreePlace double_tree_place(int node, int nodes);
/// Those of all nodes.
std::vector<DoubleTreePlace> double_tree_places(int nodes);

}  // namespace foretrain::nccl
