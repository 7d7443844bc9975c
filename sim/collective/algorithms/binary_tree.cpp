// Broadcast along a binary tree from the root: place p sends to 2p + 1 and 2p + 2, as TensorFlow's
// HierarchicalTreeBroadcaster does between tasks.
//
// Each inner rank sends the message twice, so bandwidth is half of the link's. Pipelining hides the depth of
// the tree.
#include <algorithm>
#include <bit>

#include "sim/collective/algorithms/rows.hpp"
#include "sim/collective/algorithms/trees.hpp"

namespace foretrain {

namespace {

void fill_binary_tree(Lanes& lanes, const AlgorithmRequest& request) {
  lanes.chunks = request.pieces;
  add_broadcast(lanes, binary_tree(lanes.ranks), {0, request.pieces}, {});
}

/// Returns the closed form: depth + pieces - 1 steps of one piece each, and at most two children per rank.
LaneCosts binary_tree_costs(const AlgorithmRequest& request) {
  const int n = request.ranks();
  const int depth = static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
  const int steps = depth + request.pieces - 1, children = std::min(2, n - 1);
  const double piece = 1.0 / request.pieces;
  return {.hops = depth,
          .steps = steps,
          .sent = static_cast<double>(children),
          .received = 1,
          .pair = 1,
          .message = piece,
          .chain = steps * piece,
          .messages = children * request.pieces};
}

}  // namespace

Algorithm binary_tree_broadcast() {
  return {"binary_tree_broadcast", AlgorithmFamily::binary_tree,
          CollectiveOp::broadcast, "every rank hands the message to two others",
          fill_binary_tree,        binary_tree_costs,
          refuse_nothing};
}

}  // namespace foretrain
