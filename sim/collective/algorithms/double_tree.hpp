// The two trees of NCCL, which carry half of a message each.
#pragma once

#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

/// NCCL's trees over n nodes (nccl/double_tree.hpp says how they are made): no node has more than two
/// children in both together.
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
