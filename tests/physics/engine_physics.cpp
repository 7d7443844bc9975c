// Closed forms of shared resources on idle machines: rings, spines, worker pools.
#include <cmath>

#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace engine_physics {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// A collective of `ranks` equal flows; flow i crosses the output of NIC i and the input of NIC i + 1.
Time ring_end(int ranks, Bytes per_flow, ByteRate nic) {
  TaskGraph graph;
  std::vector<PatternFlow> flows;
  const auto n = static_cast<LinkId>(ranks);
  for (LinkId i = 0; i < n; ++i) flows.push_back({{i, n + (i + 1) % n}, 1});
  graph.add(collective_task(graph.add_queue("nccl"), Time::zero(), graph.add_pattern(flows), per_flow));
  return run_on(graph, std::vector<ByteRate>(2 * n, nic)).end_of(0);
}

}  // namespace

TEST_CASE("physics: a ring of equal NICs takes the bytes of one flow over one NIC, however long the ring") {
  // 100 MB / 12.5 GB/s = 8 ms.
  for (const int ranks : {2, 3, 8, 64}) CHECK(ring_end(ranks, {100'000'000}, {12.5e9}) == milliseconds(8));
}

TEST_CASE("physics: an oversubscribed spine divides the bandwidth by its ratio") {
  // k flows of 12.5 GB/s NICs through one up-link of 50 GB/s: each min(12.5, 50 / k) GB/s.
  for (int k = 1; k <= 16; ++k) {
    TaskGraph graph;
    std::vector<PatternFlow> flows;
    std::vector<ByteRate> links(static_cast<std::size_t>(k), {12.5e9});
    links.push_back({50e9});
    for (int i = 0; i < k; ++i) flows.push_back({{static_cast<LinkId>(i), static_cast<LinkId>(k)}, 1});
    graph.add(
        collective_task(graph.add_queue("nccl"), Time::zero(), graph.add_pattern(flows), {100'000'000}));
    const double rate = std::min(12.5e9, 50e9 / k);
    const Time closed_form = Time{static_cast<std::int64_t>(std::ceil(1e8 / rate * 1e12 - 1e-3))};
    CHECK(std::abs((run_on(graph, links).end_of(0) - closed_form).count()) <= 1);
  }
}

TEST_CASE("physics: workers on c cores take the work over the cores, in whole rounds") {
  for (const std::uint32_t cores : {1u, 3u, 8u}) {
    TaskGraph graph;
    const PoolId pool = graph.add_pool("cores", cores);
    Time last{};
    for (int i = 0; i < 24; ++i) graph.add(host_task(graph.add_queue("loader"), 5 * us, pool));
    for (const Span& span : run_on(graph).spans) last = std::max(last, span.end);
    CHECK(last == 24 / cores * 5 * us);
  }
}

}  // namespace engine_physics
