// The two trees of NCCL, which carry half of a message each.
#pragma once

#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

/// NCCL's trees (src/graph/trees.cc) over n nodes: every node has children in at most one of them.
/// First: parent of r with lowest set bit b is (r - b) | 2b, or r - b when that is not a node; node 0 is the root.
/// Second: n even: the mirror image (r is n - 1 - r); n odd: shifted by one (r is r - 1).
struct DoubleTree {
  Tree first, second;
};
DoubleTree double_tree(int n);

/// Edges from a root to the farthest place.
int depth_of(const DoubleTree& trees);

/// The busiest places and pairs, in messages of one tree.
struct DoubleTreeLoad {
  int children = 0;    ///< of one place
  int neighbours = 0;  ///< children and parents of one place
  int one_way = 0;     ///< between two places, downwards
  int both_ways = 0;   ///< between two places in one direction, up and down
};
DoubleTreeLoad most_of(const DoubleTree& trees);

}  // namespace foretrain
