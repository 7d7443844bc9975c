// Calls of a chain, one behind the other: what each waits for, against a simulation of every call on every
// rank.
#include "sim/collective/chain_overlap.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace chain_overlap_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

using Places = std::vector<std::vector<int>>;

/// Naive twin: a rank starts a call when it is done with the one before on all channels; on each, a hop later
/// than it has both the data of the rank before it and its start. Hops per call, over many calls.
double simulated_hops(const Places& places) {
  const std::size_t n = places.front().size();
  constexpr int kCalls = 2000;
  std::vector<double> done(n, 0);
  for (int call = 0; call < kCalls; ++call) {
    std::vector<double> next(n, 0);
    for (const std::vector<int>& along : places) {
      double arrived = 0;
      for (int place = 0; place < static_cast<int>(n); ++place) {
        const auto rank = static_cast<std::size_t>(std::ranges::find(along, place) - along.begin());
        arrived = std::max(arrived, done[rank]) + (place > 0 ? 1 : 0);
        next[rank] = std::max(next[rank], arrived);
      }
    }
    done = next;
  }
  return *std::ranges::max_element(done) / kCalls;
}

}  // namespace

TEST_CASE("with one order no call waits for another: each costs a rank its own hop") {
  CHECK(waiting_hops({{0, 1, 2, 3}}, 4) == 0);
  CHECK(simulated_hops({{0, 1, 2, 3}}) == Approx(1).epsilon(0.01));
}

TEST_CASE("with a ring and the same ring backwards every call waits for all of the chain but its first hop") {
  // from rank 0: 1 2 3 one way, 3 2 1 the other; rank 3 is two hops behind rank 1, and rank 1 behind rank 3
  const Places both{{0, 1, 2, 3}, {0, 3, 2, 1}};
  CHECK(waiting_hops(both, 4) == 2);
  CHECK(simulated_hops(both) == Approx(1 + 2).epsilon(0.01));
}

TEST_CASE("the pair that waits longest sets the pace of all calls") {
  for (const Places& places :
       {Places{{0, 1, 2, 3, 4}, {0, 2, 1, 4, 3}}, Places{{0, 1, 2, 3, 4}, {0, 4, 3, 2, 1}},
        Places{{0, 3, 1, 4, 2}, {0, 1, 2, 3, 4}, {0, 2, 4, 1, 3}}, Places{{0, 1, 2, 3}, {0, 1, 3, 2}},
        Places{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 7, 6, 5, 4, 3, 2, 1}}})
    CHECK(simulated_hops(places) == Approx(1 + waiting_hops(places, 5)).epsilon(0.01));
}

TEST_CASE("ranks of other nodes than the root's stand in one order") {
  // two nodes of two: in the second one the GPUs change places
  const Places places{{0, 1, 2, 3}, {0, 1, 3, 2}};
  CHECK(waiting_hops(places, 2) == 1);
}

TEST_CASE("behind an NVSwitch all channels have one order, in a cube mesh they have not") {
  const OneJob switched(nvswitch_node(), 8), mesh(cube_mesh_node(), 8);
  const auto orders = [](const OneJob& job, bool from_root) {
    return chain_places(job.communicator.job(), job.communicator.job().coll_channels, from_root);
  };
  CHECK(orders(switched, true).size() == 1);
  CHECK(orders(mesh, true).size() > 1);
  CHECK(chain_places(mesh.communicator.job(), 1, true).size() == 1);
  for (const std::vector<int>& along : orders(mesh, true)) CHECK(along[0] == 0);
  for (const std::vector<int>& along : orders(mesh, false)) CHECK(along[0] == 7);  // a reduce ends at rank 0
}

}  // namespace chain_overlap_test
