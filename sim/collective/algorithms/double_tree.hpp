// The two trees of NCCL, each of which carries half of a message.
#pragma once

#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

/// NCCL's trees over n nodes (nccl/double_tree.hpp describes their construction). No node has more than two
/// children in both trees together.
struct DoubleTree {
  Tree first, second;
};
DoubleTree double_tree(int n);

/// Returns the number of edges from a root to the farthest place.
int depth_of(const DoubleTree& trees);

/// The busiest places and pairs, in messages of one tree.
struct DoubleTreeLoad {
  /// Most children of one place.
  int children = 0;
  /// Most children and parents of one place.
  int neighbours = 0;
  /// Most edges from one place to another, downward.
  int one_way = 0;
  /// Most edges between two places in one direction, up and down together.
  int both_ways = 0;
};
/// Returns the largest loads over all places. O(n).
DoubleTreeLoad most_of(const DoubleTree& trees);

}  // namespace foretrain
