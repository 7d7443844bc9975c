// Closed forms of the engine on idle machines: pipelines of launches, rings, spines, overlap of kernels and collectives.
#include <cmath>

#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// n launches of `call` each, a kernel of `length` behind every one with launch latency `lag`; the end of the last kernel.
Time chain_end(int n, Time call, Time lag, Time length) {
  TaskGraph graph;
  const QueueId host = graph.add_queue("host"), stream = graph.add_queue("stream");
  for (int i = 0; i < n; ++i) graph.add(kernel_task(stream, length), {{graph.add(host_task(host, call)), lag}});
  return run_on(graph).spans.back().end;
}

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

TEST_CASE("physics: a chain of kernels is bound by its host or by its stream, whichever is slower") {
  // Host-bound (call >= length): n x call + lag + length. Stream-bound: call + lag + n x length.
  for (const int n : {1, 2, 10, 500}) {
    for (const int call : {2, 5, 9}) {
      for (const int length : {1, 5, 40}) {
        const Time lag = 3 * us;
        const Time closed_form = call >= length ? n * call * us + lag + length * us : call * us + lag + n * length * us;
        CHECK(chain_end(n, call * us, lag, length * us) == closed_form);
      }
    }
  }
}

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
    graph.add(collective_task(graph.add_queue("nccl"), Time::zero(), graph.add_pattern(flows), {100'000'000}));
    const double rate = std::min(12.5e9, 50e9 / k);
    const Time closed_form = Time{static_cast<std::int64_t>(std::ceil(1e8 / rate * 1e12 - 1e-3))};
    CHECK(std::abs((run_on(graph, links).end_of(0) - closed_form).count()) <= 1);
  }
}

TEST_CASE("physics: a collective that hides behind kernels costs them its share of the device") {
  // The kernel (length L) outlasts the collective (length C, share s): it loses C x s of its work and ends at L + C x s.
  for (const double share : {0.0, 0.1, 0.25, 0.5}) {
    TaskGraph graph;
    const DeviceId gpu = graph.add_device("gpu");
    const TaskId kernel = graph.add(kernel_task(graph.add_queue("stream"), 1000 * us, gpu));
    graph.add(occupying_task(graph.add_queue("nccl"), 400 * us, gpu, share));
    const double closed_form = 1000 + 400 * share;
    CHECK(to_seconds(run_on(graph).end_of(kernel)) * 1e6 == Approx(closed_form).epsilon(1e-12));
  }
}

TEST_CASE("physics: n flows of sizes 1 to n on one link end where the sorted-sizes formula says") {
  // Fair sharing: the k-th smallest ends at the sum over j <= k of (s_j - s_{j-1}) x (n - j + 1) / capacity.
  constexpr int n = 20;
  constexpr double capacity = 1e9;
  TaskGraph graph;
  const PatternId link = graph.add_pattern({{{0}, 1}});
  for (int k = 1; k <= n; ++k) graph.add(collective_task(graph.add_queue("nccl"), Time::zero(), link, {k * 1'000'000}));
  const Timeline timeline = run_on(graph, {{capacity}});
  double end = 0;
  for (int k = 1; k <= n; ++k) {
    end += 1e6 * (n - k + 1) / capacity;
    CHECK(to_seconds(timeline.end_of(static_cast<TaskId>(k - 1))) == Approx(end).epsilon(1e-11));
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
