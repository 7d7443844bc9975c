// Trees over places, and the lanes that reduce up and broadcast down along them.
#pragma once

#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// parent[p] of every place; the root's, and that of places not in the tree, is -1.
using Tree = std::vector<int>;

/// Edges from the root to the farthest place.
int depth_of(const Tree& tree);
/// Children per place.
std::vector<int> children_of(const Tree& tree);

/// Place p hangs on p - 1.
Tree chain(int n);
/// Every place hangs on place 0.
Tree star(int n);
/// Place p hangs on (p - 1) / 2.
Tree binary_tree(int n);
/// Place p hangs on p without its highest bit: in round i the places below 2^i send to those 2^i on (gloo
/// broadcast.cc).
Tree binomial_tree(int n);

/// Hangs groups of places on a tree over the groups: a group is a chain, its first place stands for it.
Tree with_chains(const Tree& over_groups, const std::vector<int>& group_sizes);

/// What the lanes that start at a place wait for.
using NeedsByPlace = std::vector<std::vector<LaneNeed>>;

/// Chunks of one tree: `pieces` messages of one chunk each, first, first + stride, ….
struct TreePieces {
  int first = 0;
  int pieces = 1;
  int stride = 1;
};

/// Lanes towards the root that add; each waits for the same piece from the children, and for `starts[place]`
/// when starts is not empty. Returns by place the lane to its parent.
std::vector<std::uint32_t> add_reduce(Lanes& lanes, const Tree& tree, TreePieces pieces,
                                      const NeedsByPlace& starts = {});
/// Lanes away from the root that overwrite; each waits for the same piece from the parent, those of the root
/// for `root_needs`. Returns by place the lane from its parent.
std::vector<std::uint32_t> add_broadcast(Lanes& lanes, const Tree& tree, TreePieces pieces,
                                         const std::vector<LaneNeed>& root_needs);
/// Both at once: the root passes each piece down when it has it from all its children. Adds to `done`, when
/// not null, what message k at each place waits for in order to have the whole sum of piece k.
void add_all_reduce(Lanes& lanes, const Tree& tree, TreePieces pieces, const NeedsByPlace& starts = {},
                    NeedsByPlace* done = nullptr);

}  // namespace foretrain
