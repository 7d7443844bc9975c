// Lanes played on links: the times of small machines, derived by hand.
#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/lanes.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "tests/support/catch.hpp"

namespace lanes_transfers_test {

using namespace foretrain;

namespace {

constexpr double kRate = 1e9;  // 1 ns a byte
const Time kLatency = microseconds(5);

/// Ranks and switches on one big switch: rank r sends over link r and receives over link n + r; nothing else
/// limits.
struct Star {
  int holders;
  LaneCarrier carrier(int from, int to) const {
    return {{static_cast<LinkId>(from), static_cast<LinkId>(holders + to)}, kLatency, Time{}, 1};
  }
  std::vector<ByteRate> capacities() const {
    return std::vector<ByteRate>(static_cast<std::size_t>(2 * holders), ByteRate{kRate});
  }
};

Lanes lanes_for(CollectiveOp op, std::string_view family, int n, int pieces = 1) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return lanes_of(*find_algorithm(op, family), {order, 0, pieces});
}

Time played(const Lanes& lanes, double bytes) {
  const Star star{lanes.ranks + lanes.switches};
  TransferGraph graph;
  add_transfers(graph, lanes, bytes, [&](int from, int to) { return star.carrier(from, to); });
  const ChunkResult result = simulate_chunks(graph, star.capacities());
  REQUIRE(result.problem.empty());
  return result.end;
}

}  // namespace

TEST_CASE("lanes become connections with the same needs, further on in a graph that has some") {
  const Lanes ring = lanes_for(CollectiveOp::all_reduce, "ring", 3, 2);
  TransferGraph graph;
  for (int i = 0; i < 2; ++i)
    add_transfers(graph, ring, 600, [](int, int) { return LaneCarrier{{0}, kLatency, Time{}, 1.5}; });
  CHECK(graph.ranks == 3);
  REQUIRE(graph.connections.size() == 6);
  CHECK(graph.connections[4].transfers == 8);
  CHECK(graph.connections[4].bytes == 600.0 / 6 * 1.5);
  CHECK(graph.needs_of(4)[0].connection == 3);
  CHECK(graph.needs_of(4)[0].lag == 2);
}

TEST_CASE("a ring on an idle star takes 2(n-1) latencies and messages") {
  // 14 messages of 1/8 of 8 MB: 1 ms each.
  CHECK(to_seconds(played(lanes_for(CollectiveOp::all_reduce, "ring", 8), 8e6)) ==
        Approx(14 * (5e-6 + 1e-3)).epsilon(1e-9));
}

TEST_CASE("pieces hide the latency of a ring") {
  // Each of 14 x 4 messages of 0.25 ms leaves right after the one before, as what it waits for came 0.25 ms x
  // 3 - 5 us earlier.
  CHECK(to_seconds(played(lanes_for(CollectiveOp::all_reduce, "ring", 8, 4), 8e6)) ==
        Approx(14 * 4 * 0.25e-3 + 5e-6).epsilon(1e-9));
}

TEST_CASE("a pipelined chain fills and then flows") {
  // 3 hops for the first of 10 pieces of 0.1 ms, then 9 more.
  CHECK(to_seconds(played(lanes_for(CollectiveOp::broadcast, "ring", 4, 10), 1e6)) ==
        Approx(3 * (5e-6 + 1e-4) + 9 * 1e-4).epsilon(1e-9));
}

TEST_CASE("gathering is bound by the root's one link") {
  CHECK(to_seconds(played(lanes_for(CollectiveOp::gather, "direct", 5), 5e6)) ==
        Approx(4e-3 + 5e-6).epsilon(1e-9));
}

TEST_CASE("an alltoall at once keeps every link busy") {
  CHECK(to_seconds(played(lanes_for(CollectiveOp::alltoall, "direct", 5), 5e6)) ==
        Approx(4e-3 + 5e-6).epsilon(1e-3));
  CHECK(to_seconds(played(lanes_for(CollectiveOp::alltoall, "pairwise", 5), 5e6)) ==
        Approx(4 * (1e-3 + 5e-6)).epsilon(1e-9));
}

TEST_CASE(
    "no algorithm is faster than its hops and its busiest rank, none slower than all messages one after the "
    "other") {
  const std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7};
  for (const Algorithm& row : algorithms()) {
    const AlgorithmRequest request{order, 0, 3};
    if (!row.refuse(request).empty()) continue;
    const Lanes lanes = lanes_of(row, request);
    const LaneCosts costs = count_costs(lanes);
    for (const double bytes : {8.0, 8e6}) {
      const double time = to_seconds(played(lanes, bytes));
      const double least = std::max({costs.hops * 5e-6, std::max(costs.sent, costs.received) * bytes / kRate,
                                     costs.chain * bytes / kRate});
      double most = 1e-9;
      for (const Lane& lane : lanes.lanes)
        most += lane.messages * (5e-6 + lanes.message_share(lane) * bytes / kRate);
      INFO(row.name << " with " << bytes << " bytes");
      CHECK(time >= least * (1 - 1e-9));
      CHECK(time <= most);
    }
  }
}

}  // namespace lanes_transfers_test
