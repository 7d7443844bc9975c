// Rings between nodes of several adapters: since 2.22 odd nodes swap the rings of each pair, so that a ring
// stays on its rail.
#include "sim/collective/nccl/job.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace ring_pairs_test {

using namespace foretrain;

namespace {

/// Eight GPUs, each with an adapter of its own, on rails.
nccl::Job job_of(int nodes, const nccl::Settings& settings) {
  test::use_source_catalogs();
  const ClusterSpec spec = open_cluster("gcp-a3-ultra", std::nullopt);
  return nccl::inspect(Cluster::build(spec, nodes), place_packed(8 * nodes, 8), settings);
}

nccl::Settings version(const char* text) {
  nccl::Settings settings;
  settings.version = nccl::parse_version(text).value();
  return settings;
}

/// Rings that leave a node by another rail than they come in by on the next one.
int crossings(const nccl::Job& job) {
  const int nodes = static_cast<int>(job.nodes.size());
  int count = 0;
  for (int ring = 0; ring < job.search_channels; ++ring)
    for (int node = 0; node < nodes; ++node)
      count += job.ring_path(ring, node).nic_out != job.ring_path(ring, (node + 1) % nodes).nic_in ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("before 2.22 every ring of a pair crosses rails, since then none does on an even number of nodes") {
  const nccl::Job before = job_of(4, version("2.21.5")), since = job_of(4, version("2.22.3"));
  REQUIRE(since.search_channels == before.search_channels);
  CHECK_FALSE(before.swaps_ring_pairs);
  CHECK(crossings(before) == 4 * before.search_channels);
  CHECK(since.swaps_ring_pairs);
  CHECK(crossings(since) == 0);
}

TEST_CASE("on an odd number of nodes the last and the first are alike, and rings cross between them") {
  const nccl::Job job = job_of(3, version("2.22.3"));
  CHECK(crossings(job) == job.search_channels);
}

TEST_CASE("rings that may leave by any rail, or none but their own, are not swapped") {
  nccl::Settings settings = version("2.22.3");
  for (const nccl::CrossNic cross : {nccl::CrossNic::always, nccl::CrossNic::never}) {
    settings.cross_nic = cross;
    CHECK_FALSE(job_of(2, settings).swaps_ring_pairs);
  }
  CHECK_FALSE(job_of(1, version("2.22.3")).swaps_ring_pairs);
}

}  // namespace ring_pairs_test
