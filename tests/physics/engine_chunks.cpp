// Closed forms of the chunk level on idle machines, and its agreement with flow level where links are shared.
#include "tests/support/catch.hpp"
#include "tests/support/chunk_graphs.hpp"
#include "tests/support/small_graph.hpp"

namespace engine_chunks {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr ByteRate kNic{12.5e9};
constexpr double kSize = 1 << 28;

/// All messages of each connection as one flow.
Time flow_end(const TransferGraph& graph, const std::vector<ByteRate>& capacities) {
  TaskGraph tasks;
  std::vector<PatternFlow> flows;
  for (std::uint32_t c = 0; c < graph.connections.size(); ++c) {
    const std::span<const LinkId> route = graph.route(c);
    flows.push_back(
        {{route.begin(), route.end()}, graph.connections[c].bytes * graph.connections[c].transfers / kSize});
  }
  const PatternId pattern = tasks.add_pattern(std::move(flows));
  tasks.add(collective_task(tasks.add_queue("nccl"), {}, pattern, {static_cast<std::int64_t>(kSize)}));
  return run_on(tasks, capacities).end_of(0);
}

void check_agreement(const TransferGraph& graph, const std::vector<ByteRate>& capacities, double within) {
  const double flow = to_seconds(flow_end(graph, capacities));
  for (const LinkSharing sharing : {LinkSharing::serve_in_order, LinkSharing::fair_share}) {
    const ChunkResult chunks = simulate_chunks(graph, capacities, {.sharing = sharing});
    REQUIRE(chunks.problem.empty());
    CHECK(to_seconds(chunks.end) == Approx(flow).epsilon(within));
  }
}

/// The connections of `other` beside those of `graph`; ranks are the same.
void add_beside(TransferGraph& graph, const TransferGraph& other) {
  const auto offset = static_cast<std::uint32_t>(graph.connections.size());
  for (std::uint32_t c = 0; c < other.connections.size(); ++c) {
    const std::span<const Need> before = other.needs_of(c);
    std::vector<Need> needs(before.begin(), before.end());
    for (Need& need : needs) need.connection += offset;
    graph.add(other.connections[c], other.route(c), needs);
  }
}

}  // namespace

TEST_CASE(
    "physics: a ring all-reduce, chunk by chunk, takes 2 (n - 1) steps of chunk / bandwidth + latency") {
  for (const std::uint32_t ranks : {2u, 3u, 8u, 100u}) {
    const Platform platform = star(ranks, kNic);
    const TransferGraph graph = ring_all_reduce(platform, in_order(ranks), kSize, 5 * us);
    const Time step = Time{static_cast<std::int64_t>(std::ceil(kSize / ranks / 12.5e9 * 1e12))} + 5 * us;
    CHECK(simulate_chunks(graph, platform.capacities).end == 2 * (std::int64_t{ranks} - 1) * step);
  }
}

TEST_CASE("physics: a chain of n ranks passes on m chunks in n + m - 2 steps of chunk / bandwidth") {
  // Pipelining: the first chunk takes n - 1 hops, the others follow one step apart. 1 MB / 12.5 GB/s = 80 us.
  constexpr std::uint32_t kRanks = 9;
  for (const std::uint32_t chunks : {1u, 7u, 500u}) {
    const Platform platform = star(kRanks, kNic);
    TransferGraph graph;
    graph.ranks = kRanks;
    for (std::uint32_t r = 0; r + 1 < kRanks; ++r) {
      Connection connection;
      connection.from = r, connection.to = r + 1, connection.transfers = chunks, connection.bytes = 1e6;
      const std::vector<Need> needs = r == 0 ? std::vector<Need>{} : std::vector<Need>{{r - 1, 0}};
      graph.add(connection, route(platform, r, r + 1), needs);
    }
    CHECK(simulate_chunks(graph, platform.capacities).end == (std::int64_t{kRanks} + chunks - 2) * 80 * us);
  }
}

TEST_CASE("physics: jitter at the start delays a ring by the latest rank, and no more") {
  constexpr std::uint32_t kRanks = 32;
  const Platform platform = star(kRanks, kNic);
  const TransferGraph graph = ring_all_reduce(platform, in_order(kRanks), kSize, 5 * us);
  const std::vector<Time> start = jitter(kRanks, 100 * us, 7);
  const Time in_step = simulate_chunks(graph, platform.capacities).end;
  CHECK(simulate_chunks(graph, platform.capacities, {.start = start}).end ==
        in_step + *std::ranges::max_element(start));
}

TEST_CASE(
    "physics: over an oversubscribed core chunk and flow level agree within 2 %, in the worst order and at "
    "random") {
  for (const std::uint32_t oversubscription : {2u, 4u, 16u}) {
    const Platform platform = fat_tree(64, oversubscription, kNic);
    check_agreement(ring_all_reduce(platform, across_leaves(64), kSize), platform.capacities, 0.02);
    std::vector<std::uint32_t> order = in_order(64);
    const CounterRandom random(oversubscription);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.bits(0, i) % i]);
    check_agreement(ring_all_reduce(platform, order, kSize), platform.capacities, 0.02);
  }
}

TEST_CASE("physics: two rings over one NIC per rank agree with flow level within 2 %") {
  for (const std::uint32_t ranks : {2u, 4u, 16u}) {
    const Platform platform = star(ranks, kNic);
    TransferGraph graph = ring_all_reduce(platform, in_order(ranks), kSize);
    add_beside(graph, ring_all_reduce(platform, in_order(ranks), kSize / 2));
    check_agreement(graph, platform.capacities, 0.02);
  }
}

TEST_CASE("physics: a ring beside a stream into one of its ranks agrees with flow level within 2 %") {
  for (const std::uint32_t messages : {14u, 2000u}) {
    const Platform platform = star(8, kNic);
    TransferGraph graph = ring_all_reduce(platform, in_order(8), kSize);
    Connection stream;
    stream.from = 5, stream.to = 0, stream.transfers = messages, stream.bytes = 2 * kSize / messages;
    const std::vector<LinkId> into_0{1};
    graph.add(stream, into_0);
    check_agreement(graph, platform.capacities, 0.02);
  }
}

}  // namespace engine_chunks
