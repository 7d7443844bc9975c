// A ring all-reduce, one chunk per step: the chunk level ends when SimGrid does (CM02, no cross-traffic), in step and out of step.
#include "tests/crosscheck/simgrid.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/chunk_graphs.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr int kRanks = 64;

/// SimGrid's latency lies before the data and ours after it; a sender that waits for the arrival is the same in both.
ChunkResult our_result(const RingScene& ring, LinkSharing sharing) {
  const Platform platform = star(static_cast<std::uint32_t>(ring.ranks), {ring.capacity});
  TransferGraph graph;
  graph.ranks = ring.ranks;
  const auto ranks = static_cast<std::uint32_t>(ring.ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Connection connection;
    connection.from = r, connection.to = (r + 1) % ranks, connection.transfers = static_cast<std::uint32_t>(ring.steps);
    connection.bytes = static_cast<double>(ring.bytes), connection.latency = seconds(ring.latency);
    const std::vector<Need> needs{{(r + ranks - 1) % ranks, 1}, {r, 1}};
    graph.add(connection, route(platform, r, connection.to), needs);
  }
  std::vector<Time> start;
  for (const double moment : ring.start) start.push_back(seconds(moment));
  return simulate_chunks(graph, platform.capacities, {.sharing = sharing, .start = start});
}

RingScene ring_of_64_mebibytes() { return {kRanks, 2 * (kRanks - 1), (64 << 20) / kRanks, 12.5e9, 2e-6, std::vector<double>(kRanks, 0)}; }

void check_ends(const RingScene& ring) {
  const std::vector<double> theirs = simgrid_ring_ends(ring);
  REQUIRE(theirs.size() == static_cast<std::size_t>(ring.ranks));
  for (const LinkSharing sharing : {LinkSharing::serve_in_order, LinkSharing::fair_share}) {
    const ChunkResult ours = our_result(ring, sharing);
    REQUIRE(ours.problem.empty());
    for (std::size_t rank = 0; rank < theirs.size(); ++rank) CHECK(to_seconds(ours.finish[rank]) == Approx(theirs[rank]).epsilon(1e-3));
  }
}

}  // namespace

TEST_CASE("SimGrid agrees: a ring all-reduce of 64 MiB over 64 ranks in step") {
  const RingScene ring = ring_of_64_mebibytes();
  check_ends(ring);
  // 126 steps of 1 MiB / 12.5 GB/s + 2 us.
  CHECK(to_seconds(our_result(ring, LinkSharing::serve_in_order).end) == Approx(126 * (1048576 / 12.5e9 + 2e-6)).epsilon(1e-9));
}

TEST_CASE("SimGrid agrees: the same ring with 100 us of start jitter") {
  RingScene ring = ring_of_64_mebibytes();
  const CounterRandom random(5);
  for (std::size_t rank = 0; rank < ring.start.size(); ++rank) ring.start[rank] = 1e-4 * random.uniform(0, rank);
  check_ends(ring);
}

TEST_CASE("SimGrid agrees: small messages, where jitter is longer than a step") {
  RingScene ring = ring_of_64_mebibytes();
  ring.bytes = 4096;
  const CounterRandom random(6);
  for (std::size_t rank = 0; rank < ring.start.size(); ++rank) ring.start[rank] = 1e-4 * random.uniform(0, rank);
  check_ends(ring);
}
