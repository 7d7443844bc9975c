// Laws of the chunk level over random transfer graphs: equal to a plain twin, with and without running ahead,
// in both ways of sharing.
#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/chunk_graphs.hpp"
#include "tests/support/naive_chunks.hpp"

namespace chunk_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint64_t kGraphs = 1500;
const CounterRandom kRandom(404);

struct Scene {
  TransferGraph graph;
  std::vector<ByteRate> capacities;
  std::vector<Time> start;
};

/// 1 to 8 ranks, 1 to 10 links and 1 to 14 connections over 0 to 4 of them, with up to 2 needs each, some of
/// which wait in a circle. Sizes, rates and delays are round, so that ties are common; every message takes a
/// while, so that no moment has an order inside.
class RandomScene {
 public:
  explicit RandomScene(std::uint64_t seed) : seed_(seed) {}

  Scene build() {
    Scene scene;
    scene.graph.ranks = static_cast<int>(1 + below(8));
    for (std::uint32_t n = 1 + below(10); n > 0; --n) scene.capacities.push_back({1e9 * (1 + below(3))});
    for (int rank = 0; rank < scene.graph.ranks; ++rank) scene.start.push_back(Time{1000 * below(5)});
    const std::uint32_t connections = 1 + below(14);
    for (std::uint32_t c = 0; c < connections; ++c) add_connection(scene, connections);
    return scene;
  }

 private:
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(kRandom.bits(seed_, draw_++) % limit);
  }

  void add_connection(Scene& scene, std::uint32_t connections) {
    const auto ranks = static_cast<std::uint32_t>(scene.graph.ranks);
    Connection connection;
    connection.from = below(ranks), connection.to = below(ranks);
    connection.transfers = below(8) == 0 ? below(300) : below(12);
    connection.bytes = 1000.0 * below(4);
    connection.latency = Time{1000 * (1 + below(3))}, connection.overhead = Time{500 * below(3)};
    std::vector<LinkId> route;
    for (std::uint32_t n = below(5); n > 0; --n) route.push_back(below(scene.capacities.size()));
    std::vector<Need> needs;
    // Mostly earlier connections; now and then any, with a lag that may or may not break the circle.
    for (std::uint32_t n = below(3); n > 0; --n) {
      const bool any = below(4) == 0;
      const std::uint32_t earlier = static_cast<std::uint32_t>(scene.graph.connections.size());
      if (!any && earlier == 0) continue;
      const std::int32_t lag = below(6) == 0 ? kWholePhase : static_cast<std::int32_t>(below(5)) - 1;
      needs.push_back({any ? below(connections) : below(earlier), any ? std::max(lag, 1) : lag});
    }
    scene.graph.add(connection, route, needs);
  }

  std::uint64_t seed_, draw_ = 0;
};

template <class Check>
void for_random_scenes(const Check& check) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    CAPTURE(seed);
    check(RandomScene(seed).build());
  }
}

}  // namespace

TEST_CASE("law: links that serve in order give what the plain twin gives, to the picosecond") {
  std::uint64_t finished = 0;
  for_random_scenes([&](const Scene& scene) {
    const ChunkOptions options{.start = scene.start};
    const ChunkResult fast = simulate_chunks(scene.graph, scene.capacities, options);
    const ChunkResult plain = NaiveChunks(scene.graph, scene.capacities, options).run();
    INFO(fast.problem);
    REQUIRE(fast.transfers == plain.transfers);
    REQUIRE(fast.finish == plain.finish);
    REQUIRE(fast.problem.empty() == plain.problem.empty());
    finished += fast.problem.empty() ? 1 : 0;
  });
  CHECK(finished > kGraphs / 2);
  CHECK(finished < kGraphs);
}

TEST_CASE("law: timing connections ahead of the clock changes nothing, in both ways of sharing") {
  for_random_scenes([](const Scene& scene) {
    for (const LinkSharing sharing : {LinkSharing::serve_in_order, LinkSharing::fair_share}) {
      const ChunkResult ahead =
          simulate_chunks(scene.graph, scene.capacities, {.sharing = sharing, .start = scene.start});
      const ChunkResult events = simulate_chunks(
          scene.graph, scene.capacities, {.sharing = sharing, .start = scene.start, .run_ahead = false});
      REQUIRE(ahead.finish == events.finish);
      REQUIRE(ahead.transfers == events.transfers);
      REQUIRE(ahead.problem == events.problem);
    }
  });
}

TEST_CASE("law: links that share give what the plain twin gives, up to rounding") {
  for_random_scenes([](const Scene& scene) {
    const ChunkOptions options{.sharing = LinkSharing::fair_share, .start = scene.start};
    const ChunkResult fast = simulate_chunks(scene.graph, scene.capacities, options);
    const ChunkResult plain = NaiveChunks(scene.graph, scene.capacities, options).run();
    REQUIRE(fast.transfers == plain.transfers);
    // Each message may end a picosecond apart, and the next starts from there.
    const auto slack = static_cast<std::int64_t>(scene.graph.transfers());
    for (std::size_t rank = 0; rank < fast.finish.size(); ++rank)
      REQUIRE(std::abs((fast.finish[rank] - plain.finish[rank]).count()) <= slack);
  });
}

TEST_CASE("law: two runs at chunk level are equal") {
  for_random_scenes([](const Scene& scene) {
    const ChunkResult once = simulate_chunks(scene.graph, scene.capacities, {.start = scene.start});
    REQUIRE(simulate_chunks(scene.graph, scene.capacities, {.start = scene.start}).finish == once.finish);
  });
}

TEST_CASE("law: in a ring in which nobody shares a link more bandwidth is never slower") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Platform narrow = star(7, {1e9});
    for (std::size_t link = 0; link < narrow.capacities.size(); ++link)
      narrow.capacities[link].per_second *= 1 + kRandom.uniform(seed, link);
    Platform wide = narrow;
    wide.capacities[seed % 14].per_second *= 1.5;
    const TransferGraph graph = ring_all_reduce(narrow, in_order(7), 1e6, Time{700'000});
    const std::vector<Time> start = jitter(7, Time{50'000'000}, seed);
    REQUIRE(simulate_chunks(graph, wide.capacities, {.start = start}).end <=
            simulate_chunks(graph, narrow.capacities, {.start = start}).end);
  }
}

}  // namespace chunk_laws
