// Trees over places, and lanes that reduce up and broadcast down along them.
#pragma once

#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// The parent of every place. It is -1 for the root and for places that are not in the tree.
using Tree = std::vector<int>;

/// Returns the number of edges from the root to the farthest place.
int depth_of(const Tree& tree);
/// Returns the number of children per place.
std::vector<int> children_of(const Tree& tree);

/// Returns a chain: the parent of place p is p - 1.
Tree chain(int n);
/// Returns a star: the parent of every other place is place 0.
Tree star(int n);
/// Returns a binary tree: the parent of place p is (p - 1) / 2.
Tree binary_tree(int n);
/// Returns a binomial tree: the parent of place p is p without its highest bit. In round i the places below
/// 2^i send to those 2^i further on (gloo broadcast.cc).
Tree binomial_tree(int n);

/// Returns a tree over places in which each group is a chain whose first place has the group's position in
/// `over_groups`.
Tree with_chains(const Tree& over_groups, const std::vector<int>& group_sizes);

/// The needs of the lanes that start at each place.
using NeedsByPlace = std::vector<std::vector<LaneNeed>>;

/// The chunks of one tree: `pieces` messages of one chunk each, at first, first + stride, …
struct TreePieces {
  int first = 0;
  int pieces = 1;
  int stride = 1;
};

/// Adds lanes toward the root that add. Each waits for the same piece from the children, and for
/// `starts[place]` when starts is not empty. Returns by place the lane to its parent.
std::vector<std::uint32_t> add_reduce(Lanes& lanes, const Tree& tree, TreePieces pieces,
                                      const NeedsByPlace& starts = {});
/// Adds lanes away from the root that overwrite. Each waits for the same piece from the parent; those of the
/// root wait for `root_needs`. Returns by place the lane from its parent.
std::vector<std::uint32_t> add_broadcast(Lanes& lanes, const Tree& tree, TreePieces pieces,
                                         const std::vector<LaneNeed>& root_needs);
/// Adds both: the root passes each piece down when it has the piece from all its children. If `done` is not
/// nullptr, adds to it what message k at each place waits for in order to have the whole sum of piece k.
void add_all_reduce(Lanes& lanes, const Tree& tree, TreePieces pieces, const NeedsByPlace& starts = {},
                    NeedsByPlace* done = nullptr);

}  // namespace foretrain
