// The ring search on small graphs whose answer can be seen.
#include "sim/collective/ring_search.hpp"

#include <algorithm>
#include <array>

#include "tests/support/catch.hpp"

using namespace foretrain;

namespace {

FreeLinks full_mesh(int size, int width) {
  FreeLinks links(size);
  for (int a = 0; a < size; ++a) {
    for (int b = 0; b < size; ++b) links.at(a, b) = a == b ? 0 : width;
  }
  return links;
}

void join(FreeLinks& links, int a, int b, int width) { links.at(a, b) = links.at(b, a) = width; }

}  // namespace

TEST_CASE("where there is no ring there is none") {
  FreeLinks line(3);
  join(line, 0, 1, 1);
  join(line, 1, 2, 1);
  CHECK(widest_ring(line).empty());
  CHECK(widest_ring(FreeLinks(1)).empty());
  CHECK(disjoint_rings(line).empty());
}

TEST_CASE("two places make a ring of one link each way") {
  CHECK(widest_ring(full_mesh(2, 1)) == std::vector{0, 1});
  CHECK(disjoint_rings(full_mesh(2, 3)).size() == 3);
}

TEST_CASE("a path passes every place between its ends") {
  CHECK(widest_path(full_mesh(4, 1), 2, 1) == std::vector{2, 0, 3, 1});
  CHECK(widest_path(full_mesh(1, 0), 0, 0) == std::vector{0});
  FreeLinks line(3);
  join(line, 0, 1, 1);
  join(line, 1, 2, 1);
  CHECK(widest_path(line, 0, 2) == std::vector{0, 1, 2});
  CHECK(widest_path(line, 0, 1).empty());
}

TEST_CASE("a taken ring leaves one link fewer on its edges, in its direction") {
  FreeLinks links = full_mesh(3, 2);
  links.take_ring({0, 1, 2});
  CHECK(links.at(0, 1) == 1);
  CHECK(links.at(2, 0) == 1);
  CHECK(links.at(1, 0) == 2);
  links.take_path({0, 1});
  CHECK(links.at(0, 1) == 0);
}

TEST_CASE("a place with a single neighbour keeps all rings away") {
  FreeLinks links = full_mesh(4, 1);
  for (int other : {1, 2}) join(links, 3, other, 0);
  CHECK(disjoint_rings(links).empty());
}

TEST_CASE("wide meshes are searched in steps of whole widths") {
  // 3 places, 1000 links per pair: two directions of one ring, each 1000 wide.
  CHECK(disjoint_rings(full_mesh(3, 1000)).size() == 2000);
}

TEST_CASE("a cube mesh has six rings whichever way its GPUs are numbered") {
  const std::array<std::array<int, 3>, 16> pairs{{{0, 1, 1},
                                                  {0, 2, 1},
                                                  {0, 3, 2},
                                                  {0, 4, 2},
                                                  {1, 2, 2},
                                                  {1, 3, 1},
                                                  {1, 5, 2},
                                                  {2, 3, 2},
                                                  {2, 6, 1},
                                                  {3, 7, 1},
                                                  {4, 5, 1},
                                                  {4, 6, 1},
                                                  {4, 7, 2},
                                                  {5, 6, 2},
                                                  {5, 7, 1},
                                                  {6, 7, 2}}};
  std::array<int, 8> number{0, 1, 2, 3, 4, 5, 6, 7};
  for (int round = 0; round < 50; ++round) {
    FreeLinks links(8);
    for (const auto& [a, b, width] : pairs) join(links, number[static_cast<std::size_t>(a)], number[static_cast<std::size_t>(b)], width);
    INFO("round " << round);
    CHECK(disjoint_rings(links).size() == 6);
    for (int step = 0; step < 800; ++step) std::next_permutation(number.begin(), number.end());
  }
}
