// The tree is that of binary counting: the lowest set bit of a node is its height, so no tables are needed at
// any size.
#include "sim/collective/nccl/double_tree.hpp"

#include <bit>
#include <cassert>

namespace foretrain::nccl {

namespace {

int lowest_bit(int value) { return value & -value; }

/// Returns the parent: the node with the next higher lowest bit, or the one below it if that node does not
/// exist.
int parent_of(int node, int nodes) {
  const int bit = lowest_bit(node);
  const int upper = (node ^ bit) | (bit << 1);
  return upper < nodes ? upper : node ^ bit;
}

/// Returns the right child: the highest level of the right subtree that still exists.
int right_child(int node, int bit, int nodes) {
  for (int step = bit / 2; step > 0; step /= 2) {
    if (node + step < nodes) return node + step;
  }
  return -1;
}

TreePlace renumbered(TreePlace place, auto number) {
  const auto map = [&](int node) { return node < 0 ? -1 : number(node); };
  return {map(place.parent), {map(place.children[0]), map(place.children[1])}};
}

}  // namespace

TreePlace binary_tree_place(int node, int nodes) {
  assert(0 <= node && node < nodes);
  if (node == 0) {
    const int highest = nodes > 1 ? static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes - 1))) : -1;
    return {-1, {-1, highest}};
  }
  const int bit = lowest_bit(node);
  return {parent_of(node, nodes), {bit > 1 ? node - bit / 2 : -1, right_child(node, bit, nodes)}};
}

DoubleTreePlace double_tree_place(int node, int nodes) {
  DoubleTreePlace place{binary_tree_place(node, nodes), {}};
  if (nodes % 2 == 0) {
    const auto mirrored = [nodes](int n) { return nodes - 1 - n; };
    place.second = renumbered(binary_tree_place(mirrored(node), nodes), mirrored);
  } else {
    const auto next = [nodes](int n) { return (n + 1) % nodes; };
    place.second = renumbered(binary_tree_place((node - 1 + nodes) % nodes, nodes), next);
  }
  return place;
}

std::vector<DoubleTreePlace> double_tree_places(int nodes) {
  std::vector<DoubleTreePlace> places;
  places.reserve(static_cast<std::size_t>(nodes));
  for (int node = 0; node < nodes; ++node) places.push_back(double_tree_place(node, nodes));
  return places;
}

}  // namespace foretrain::nccl
