// The engine against closed forms on small machines: launches, overlap, sharing of links and of GPUs.
#include <algorithm>
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace engine_closed_forms {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// The end of the last task, in seconds.
double makespan(const TaskGraph& graph, std::vector<ByteRate> capacities = {}) {
  Time last{};
  for (const Span& span : run_on(graph, std::move(capacities)).spans) last = std::max(last, span.end);
  return to_seconds(last);
}

/// `kernels` kernels of length `kernel`, each enqueued by host work of length `host` with a launch latency of
/// 4 us.
double launched(int kernels, Time host, Time kernel) {
  TaskGraph graph;
  const QueueId thread = graph.add_queue("thread"), stream = graph.add_queue("stream");
  for (int i = 0; i < kernels; ++i)
    graph.add(kernel_task(stream, kernel), {{graph.add(host_task(thread, host)), 4 * us}});
  return makespan(graph);
}

/// Ends of transfers that start together, each on a queue of its own.
std::vector<double> ends_of(const std::vector<std::vector<LinkId>>& routes,
                            const std::vector<std::int64_t>& bytes, std::vector<ByteRate> capacities) {
  TaskGraph graph;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    graph.add(
        collective_task(graph.add_queue("q"), Time::zero(), graph.add_pattern({{routes[i], 1}}), {bytes[i]}));
  }
  std::vector<double> out;
  for (const Span& span : run_on(graph, std::move(capacities)).spans) out.push_back(to_seconds(span.end));
  return out;
}

}  // namespace

TEST_CASE("n long kernels take one launch and n kernels: h + L + n k") {
  // 5 us + 4 us + 100 x 20 us = 2009 us.
  CHECK(launched(100, 5 * us, 20 * us) == Approx(2009e-6).epsilon(1e-12));
}

TEST_CASE("n short kernels are bound by the host: n h + L + k") {
  // 100 x 5 us + 4 us + 2 us = 506 us.
  CHECK(launched(100, 5 * us, 2 * us) == Approx(506e-6).epsilon(1e-12));
}

TEST_CASE("a collective beside compute that does not need it costs the longer of the two") {
  for (const int collective : {30, 70}) {
    TaskGraph graph;
    graph.add(host_task(graph.add_queue("compute"), 50 * us));
    // At 1 GB/s one microsecond carries 1000 B.
    graph.add(collective_task(graph.add_queue("nccl"), Time::zero(), graph.add_pattern({{{0}, 1}}),
                              {1000 * collective}));
    CHECK(makespan(graph, {{1e9}}) == Approx(1e-6 * std::max(50, collective)).epsilon(1e-9));
  }
}

TEST_CASE("flows of sizes s1 <= ... <= sn on one link end at (s1 + ... + s(k-1) + (n-k+1) sk) / B") {
  const std::vector<std::int64_t> bytes{1'000'000, 2'000'000, 5'000'000, 5'000'000, 9'000'000};
  const double rate = 12.5e9;
  const std::vector<double> ends = ends_of(std::vector<std::vector<LinkId>>(5, {0}), bytes, {{rate}});
  double before = 0;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    CHECK(ends[k] ==
          Approx((before + static_cast<double>(5 - k) * static_cast<double>(bytes[k])) / rate).epsilon(1e-9));
    before += static_cast<double>(bytes[k]);
  }
}

TEST_CASE(
    "a link that is never idle has moved all bytes after their sum over its bandwidth, whenever they came") {
  // Starts at 0, 10, 20 … us, 50 kB each: at 1 GB/s 50 us of work every 10 us, so the link is never idle; 20
  // x 50 us = 1 ms.
  TaskGraph graph;
  const PatternId pattern = graph.add_pattern({{{0}, 1}});
  for (int i = 0; i < 20; ++i)
    graph.add(collective_task(graph.add_queue("q"), 10 * i * us, pattern, {50'000}));
  CHECK(makespan(graph, {{1e9}}) == Approx(1e-3).epsilon(1e-9));
}

TEST_CASE("k rings over the same NICs take as long as one ring with k times the bytes") {
  // Four nodes: flow i leaves NIC i and enters NIC (i + 1) % 4 (links 4 to 7).
  std::vector<std::vector<LinkId>> ring;
  for (LinkId i = 0; i < 4; ++i) ring.push_back({i, 4 + (i + 1) % 4});
  std::vector<std::vector<LinkId>> three_rings;
  for (int i = 0; i < 3; ++i) three_rings.insert(three_rings.end(), ring.begin(), ring.end());
  const std::vector<ByteRate> nics(8, {12.5e9});
  const double one = ends_of(ring, std::vector<std::int64_t>(4, 3'000'000), nics)[0];
  CHECK(one == Approx(3e6 / 12.5e9).epsilon(1e-9));
  for (const double end : ends_of(three_rings, std::vector<std::int64_t>(12, 1'000'000), nics))
    CHECK(end == Approx(one).epsilon(1e-9));
}

TEST_CASE("a copy to the GPU and a collective halve the PCIe link they share while both run") {
  // PCIe of 10 GB/s. Ring flow of 100 MB alone: 10 ms. The 20 MB copy starts at 2 ms: both at 5 GB/s until
  // the copy ends at 2 + 20 MB / 5 GB/s = 6 ms; the ring has sent 20 + 20 MB and needs 60 MB / 10 GB/s = 6 ms
  // more: 12 ms = (100 + 20) MB / 10 GB/s.
  TaskGraph graph;
  const TaskId ring = graph.add(collective_task(
      graph.add_queue("nccl"), Time::zero(), graph.add_pattern({{{0, 1}, 1}, {{2, 3}, 1}}), {100'000'000}));
  Task copy = collective_task(graph.add_queue("copy"), milliseconds(2), graph.add_pattern({{{4, 1}, 1}}),
                              {20'000'000});
  copy.kind = TaskKind::copy;
  const TaskId to_gpu = graph.add(copy);
  const Timeline timeline = run_on(graph, std::vector<ByteRate>(5, {10e9}));
  CHECK(to_seconds(timeline.end_of(to_gpu)) == Approx(6e-3).epsilon(1e-9));
  CHECK(to_seconds(timeline.end_of(ring)) == Approx(12e-3).epsilon(1e-9));
}

TEST_CASE("a kernel of length T beside a collective of length C < T that takes the share s takes T + s C") {
  // In C it does (1 - s) C of its work; the rest, T - (1 - s) C, at full speed: 1000 + 0.2 x 300 = 1060 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  const TaskId kernel = graph.add(kernel_task(graph.add_queue("stream"), 1000 * us, gpu));
  graph.add(occupying_task(graph.add_queue("nccl"), 300 * us, gpu, 0.2));
  CHECK(run_on(graph).end_of(kernel) == 1060 * us);
}

TEST_CASE(
    "a kernel with bytes of its own sends them after its stretched length, and is stretched only by "
    "collectives") {
  // 100 us / (1 - 0.5) = 200 us beside a collective of 1 ms, then 10,000 B at 1 GB/s = 10 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  graph.add(occupying_task(graph.add_queue("nccl"), 1000 * us, gpu, 0.5));
  Task writer = kernel_task(graph.add_queue("stream"), 100 * us, gpu);
  writer.pattern = graph.add_pattern({{{0}, 1}});
  writer.traffic = {10'000};
  const TaskId task = graph.add(writer);
  CHECK(run_on(graph, {{1e9}}).end_of(task) == 210 * us);
}

TEST_CASE("on an idle machine the ideal and the fluid network agree") {
  TaskGraph graph;
  const QueueId nccl = graph.add_queue("nccl");
  for (std::int64_t i = 1; i <= 20; ++i)
    graph.add(collective_task(nccl, i * us, graph.add_pattern({{{0, 1}, 1}, {{2}, 0.3}}), {1'234'567 * i}));
  const std::vector<ByteRate> links{{12.5e9}, {9.9e9}, {3.3e9}};
  const auto ideal = make_ideal_network(links);
  const Timeline alone = run(graph, *ideal), fluid = run_on(graph, links);
  // One is rounded to the nearest, the other up: at most a picosecond a task.
  for (TaskId task = 0; task < 20; ++task)
    CHECK(std::abs((alone.end_of(task) - fluid.end_of(task)).count()) <= task + 1);
}

}  // namespace engine_closed_forms
