// A ring all-reduce, one chunk per step: the chunk level ends when SimGrid does (CM02, no cross-traffic), in
// step and out of step, on a star and, where links share, on an oversubscribed fat tree.
#include "tests/crosscheck/simgrid.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/chunk_graphs.hpp"

namespace chunk_ring {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint32_t kRanks = 64;
constexpr ByteRate kNic{12.5e9};

/// SimGrid's latency lies before the data and ours after it; a sender that waits for the arrival is the same
/// in both.
ChunkResult our_result(const RingScene& ring, LinkSharing sharing) {
  TransferGraph graph;
  const auto ranks = static_cast<std::uint32_t>(ring.routes.size());
  graph.ranks = static_cast<int>(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Connection connection;
    connection.from = r, connection.to = (r + 1) % ranks,
    connection.transfers = static_cast<std::uint32_t>(ring.steps);
    connection.bytes = static_cast<double>(ring.bytes), connection.latency = seconds(ring.latency);
    const std::vector<Need> needs{{(r + ranks - 1) % ranks, 1}, {r, 1}};
    graph.add(connection, ring.routes[r], needs);
  }
  std::vector<Time> start;
  for (const double moment : ring.start) start.push_back(seconds(moment));
  std::vector<ByteRate> capacities;
  for (const double capacity : ring.capacities) capacities.push_back({capacity});
  return simulate_chunks(graph, capacities, {.sharing = sharing, .start = start});
}

/// An all-reduce of 64 MiB over 64 ranks with 2 us a hop; rank i is host order[i].
RingScene ring_of_64_mebibytes(const Platform& platform, const std::vector<std::uint32_t>& order) {
  RingScene ring{{}, {}, 2 * (kRanks - 1), (64 << 20) / kRanks, 2e-6, std::vector<double>(kRanks, 0)};
  for (const ByteRate capacity : platform.capacities) ring.capacities.push_back(capacity.per_second);
  for (std::uint32_t r = 0; r < kRanks; ++r)
    ring.routes.push_back(route(platform, order[r], order[(r + 1) % kRanks]));
  return ring;
}

void add_jitter(RingScene& ring, std::uint64_t seed) {
  const CounterRandom random(seed);
  for (std::size_t rank = 0; rank < ring.start.size(); ++rank)
    ring.start[rank] = 1e-4 * random.uniform(0, rank);
}

/// A rank that is done when its message is sent is so a latency earlier here than in SimGrid, where it waits
/// for the arrival.
void check_ends(const RingScene& ring, std::initializer_list<LinkSharing> ways) {
  const std::vector<double> theirs = simgrid_ring_ends(ring);
  REQUIRE(theirs.size() == ring.routes.size());
  for (const LinkSharing sharing : ways) {
    const ChunkResult ours = our_result(ring, sharing);
    REQUIRE(ours.problem.empty());
    for (std::size_t rank = 0; rank < theirs.size(); ++rank)
      CHECK(std::abs(to_seconds(ours.finish[rank]) - theirs[rank]) <= ring.latency + 1e-6 * theirs[rank]);
    CHECK(to_seconds(ours.end) == Approx(*std::ranges::max_element(theirs)).epsilon(1e-6));
  }
}

const auto kBothWays = {LinkSharing::serve_in_order, LinkSharing::fair_share};

}  // namespace

TEST_CASE("SimGrid agrees: a ring all-reduce of 64 MiB over 64 ranks in step") {
  const RingScene ring = ring_of_64_mebibytes(star(kRanks, kNic), in_order(kRanks));
  check_ends(ring, kBothWays);
  // 126 steps of 1 MiB / 12.5 GB/s + 2 us.
  CHECK(to_seconds(our_result(ring, LinkSharing::serve_in_order).end) ==
        Approx(126 * (1048576 / 12.5e9 + 2e-6)).epsilon(1e-9));
}

TEST_CASE("SimGrid agrees: the same ring with 100 us of start jitter") {
  RingScene ring = ring_of_64_mebibytes(star(kRanks, kNic), in_order(kRanks));
  add_jitter(ring, 5);
  check_ends(ring, kBothWays);
}

TEST_CASE("SimGrid agrees: small messages, where jitter is longer than a step") {
  RingScene ring = ring_of_64_mebibytes(star(kRanks, kNic), in_order(kRanks));
  ring.bytes = 4096;
  add_jitter(ring, 6);
  check_ends(ring, kBothWays);
}

TEST_CASE(
    "SimGrid agrees: a ring across a fat tree oversubscribed 4:1, with links that share, in step and with "
    "jitter") {
  RingScene ring = ring_of_64_mebibytes(fat_tree(kRanks, 4, kNic), across_leaves(kRanks));
  check_ends(ring, {LinkSharing::fair_share});
  add_jitter(ring, 7);
  check_ends(ring, {LinkSharing::fair_share});
}

}  // namespace chunk_ring
