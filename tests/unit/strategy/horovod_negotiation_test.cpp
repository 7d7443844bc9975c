// What agreeing on gradients costs Horovod's ranks.
#include "sim/strategy/horovod/horovod_settings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace horovod_negotiation_test {

using namespace foretrain;

namespace {

Time rounds_of(const ClusterSpec& spec, int gpus) {
  const Placement placement = place_packed(gpus, spec.node.gpus);
  return small_message_rounds(Cluster::build(spec, placement.nodes), placement);
}

}  // namespace

TEST_CASE("in one node a bit vector takes log2 of the ranks rounds of shared memory") {
  const ClusterSpec spec = test::pcie_cluster(1, 4);
  CHECK(rounds_of(spec, 2) == microseconds(0.5));
  CHECK(rounds_of(spec, 3) == microseconds(1));
  CHECK(rounds_of(spec, 4) == microseconds(1));
}

TEST_CASE("between nodes every round waits for the network and MPI") {
  const ClusterSpec spec = test::star_cluster(8, {12.3e9});
  const Time two = rounds_of(spec, 2);
  CHECK(two > microseconds(0.8));
  CHECK(rounds_of(spec, 4) == two * 2);
  CHECK(rounds_of(spec, 5) == two * 3);
  CHECK(rounds_of(spec, 8) == two * 3);
}

TEST_CASE("nodes of several GPUs have both kinds of rounds") {
  const ClusterSpec spec = test::pcie_cluster(2, 4);
  const Time network = rounds_of(spec, 8) - microseconds(1);
  CHECK(network > microseconds(0.8));
  CHECK(rounds_of(spec, 5) == microseconds(1) + network);  // the fuller node counts
}

TEST_CASE("the response cache holds all tensors or, one more than it has room for, none") {
  CHECK(response_cache(1024, 1024) == ResponseCache::holds_all);
  CHECK(response_cache(1024, 1025) == ResponseCache::holds_none);
  CHECK(response_cache(0, 1) == ResponseCache::off);
}

TEST_CASE("with the cache a cycle is one all-reduce of bits, whatever waits") {
  const Negotiation cached{microseconds(3), 16, ResponseCache::holds_all, microseconds(1)};
  CHECK(cached.of_cycle(0) == microseconds(3));
  CHECK(cached.of_cycle(500) == microseconds(3));
}

TEST_CASE("without the cache rank 0 reads the requests of all ranks, in empty cycles too") {
  const Negotiation off{microseconds(3), 16, ResponseCache::off, microseconds(1)};
  CHECK(off.of_cycle(0) == microseconds(4 * 3));
  CHECK(off.of_cycle(10) == microseconds(4 * 3 + 10 * 16));
}

TEST_CASE("a cache that is too small costs the bits and the requests") {
  const Negotiation small{microseconds(3), 16, ResponseCache::holds_none, microseconds(1)};
  CHECK(small.of_cycle(0) == microseconds(3));
  CHECK(small.of_cycle(10) == microseconds(3 + 4 * 3 + 10 * 16));
}

}  // namespace horovod_negotiation_test
