// The two trees between nodes, for powers of two and everything between.
#include "sim/collective/nccl/double_tree.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace double_tree_test {

using namespace foretrain::nccl;

namespace {

using Tree = std::vector<TreePlace>;

Tree tree(int nodes, TreePlace DoubleTreePlace::*which) {
  Tree places;
  for (int node = 0; node < nodes; ++node) places.push_back(double_tree_place(node, nodes).*which);
  return places;
}

bool is_inner(const TreePlace& place) { return place.children[0] >= 0 || place.children[1] >= 0; }

/// Every node but one has a parent whose child it is, and from every node one gets up to the root.
void check_is_tree(const Tree& places) {
  const int nodes = static_cast<int>(places.size());
  int roots = 0, edges = 0;
  for (int node = 0; node < nodes; ++node) {
    const TreePlace& place = places[static_cast<std::size_t>(node)];
    if (place.parent < 0) ++roots;
    for (const int child : place.children) {
      if (child < 0) continue;
      ++edges;
      REQUIRE(child < nodes);
      REQUIRE(places[static_cast<std::size_t>(child)].parent == node);
    }
    int above = node, steps = 0;
    while (places[static_cast<std::size_t>(above)].parent >= 0 && steps <= nodes)
      above = places[static_cast<std::size_t>(above)].parent, ++steps;
    REQUIRE(steps <= 1 + 2 * 9);  // 2 floor(log2 300) + 1
  }
  REQUIRE(roots == 1);
  REQUIRE(edges == nodes - 1);
}

}  // namespace

TEST_CASE("both trees of a double tree join all nodes, and no node but the first works in both") {
  for (int nodes = 1; nodes <= 300; ++nodes) {
    CAPTURE(nodes);
    const Tree first = tree(nodes, &DoubleTreePlace::first), second = tree(nodes, &DoubleTreePlace::second);
    check_is_tree(first);
    check_is_tree(second);
    for (std::size_t node = 0; node < first.size(); ++node) {
      // With an odd number the shift makes node 0, the first root, the last node of the second tree, which is
      // even and may be inner.
      const bool first_of_odd = nodes % 2 == 1 && node == 0;
      if (!first_of_odd) REQUIRE_FALSE((is_inner(first[node]) && is_inner(second[node])));
    }
  }
}

TEST_CASE("a binary tree over six nodes hangs as binary counting says") {
  // 0 - 4 - {2 - {1, 3}, 5}: 4 = 100b is the highest bit, 6 does not exist, so 4's right child moves down
  // to 5.
  CHECK(binary_tree_place(0, 6) == TreePlace{-1, {-1, 4}});
  CHECK(binary_tree_place(4, 6) == TreePlace{0, {2, 5}});
  CHECK(binary_tree_place(2, 6) == TreePlace{4, {1, 3}});
  CHECK(binary_tree_place(5, 6) == TreePlace{4, {-1, -1}});
  // Mirrored: node 5 - r.
  CHECK(double_tree_place(5, 6).second == TreePlace{-1, {-1, 1}});
  CHECK(double_tree_place(1, 6).second == TreePlace{5, {3, 0}});
}

TEST_CASE("two nodes are one edge per tree, each the root once") {
  CHECK(double_tree_place(0, 2) == DoubleTreePlace{{-1, {-1, 1}}, {1, {-1, -1}}});
  CHECK(double_tree_place(1, 2) == DoubleTreePlace{{0, {-1, -1}}, {-1, {-1, 0}}});
  CHECK(double_tree_place(0, 1) == DoubleTreePlace{});
}

}  // namespace double_tree_test
