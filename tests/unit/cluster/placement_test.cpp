// Placements: which GPU each rank gets.
#include "sim/cluster/placement.hpp"

#include "tests/support/catch.hpp"

namespace placement_test {

using namespace foretrain;

TEST_CASE("packed ranks fill node after node") {
  const Placement placement = place_packed(6, 4);
  CHECK(placement.nodes == 2);
  CHECK(placement.ranks == std::vector<GpuPlace>{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}});
}

TEST_CASE("spread ranks go evenly over the nodes, neighbours together") {
  const Placement placement = place(5, 4, Layout::spread, 2);
  CHECK(placement.ranks == std::vector<GpuPlace>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}});
}

TEST_CASE("spread over more nodes than ranks leaves nodes empty") {
  const Placement placement = place(2, 4, Layout::spread, 8);
  CHECK(placement.nodes == 2);
  CHECK(placement.ranks == std::vector<GpuPlace>{{0, 0}, {1, 0}});
}

TEST_CASE("one rank is on the first GPU") {
  CHECK(place_packed(1, 8).ranks == std::vector<GpuPlace>{{0, 0}});
  CHECK(place_packed(1, 8).nodes == 1);
}

}  // namespace placement_test
