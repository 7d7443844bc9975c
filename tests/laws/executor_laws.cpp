// Laws of competition over random task graphs: who waits and why, fairness of pools, bounds on kernels, what
// bandwidth buys.
#include <algorithm>
#include <utility>

#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace executor_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint64_t kGraphs = 500;
const CounterRandom kRandom(77);
const std::vector<ByteRate> kLinks{{1e9}, {2e9}, {2e9}, {3e9}};

/// 1 to 60 tasks on 1 to 5 queues with up to 3 dependencies each, in whole microseconds, so that ties are
/// common.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : seed_(seed) {
    for (std::uint32_t queues = 1 + below(5); queues > 0; --queues) graph_.add_queue("queue");
    for (int i = 0; i < 2; ++i) graph_.add_pool("pool", 1 + below(3)), graph_.add_device("gpu");
    for (int i = 0; i < 3; ++i) graph_.add_pattern({{{below(4)}, 1}, {{below(2), 2 + below(2)}, 0.5}});
  }

  /// With pools, traffic and shared devices.
  TaskGraph build_competing() {
    for (std::uint32_t tasks = 1 + below(60); tasks > 0; --tasks) add_task();
    return std::move(graph_);
  }

  TaskGraph build_with_traffic_only() {
    for (std::uint32_t tasks = 1 + below(60); tasks > 0; --tasks) {
      graph_.add(collective_task(queue(), below(5) * us, below(3), {below(20'000)}), dependencies());
    }
    return std::move(graph_);
  }

 private:
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(kRandom.bits(seed_, draw_++) % limit);
  }
  QueueId queue() { return below(graph_.queues().size()); }

  std::vector<Dependency> dependencies() {
    std::vector<Dependency> after;
    const std::size_t earlier = graph_.tasks().size();
    for (std::uint32_t i = earlier == 0 ? 0 : below(4); i > 0; --i)
      after.push_back({below(earlier), below(3) * us});
    return after;
  }

  void add_task() {
    Task task = host_task(queue(), below(10) * us);
    const std::uint32_t kind = below(4);
    if (kind == 1) task.pool = below(2);
    if (kind == 2) task = kernel_task(task.queue, task.duration, below(2));
    if (kind == 3) {
      task = collective_task(task.queue, task.duration, below(3), {below(20'000)});
      task.device = below(2), task.device_share = 0.1 * below(4);
    }
    graph_.add(task, dependencies());
  }

  std::uint64_t seed_, draw_ = 0;
  TaskGraph graph_;
};

TaskGraph competing_graph(std::uint64_t seed) { return RandomGraph(seed).build_competing(); }

/// When all dependencies of a task have passed.
Time ready(const TaskGraph& graph, const Timeline& timeline, TaskId task) {
  Time at{};
  for (const Dependency& dependency : graph.dependencies(task))
    at = std::max(at, timeline.end_of(dependency.before) + dependency.lag);
  return at;
}

}  // namespace

TEST_CASE(
    "law: no task starts before its dependencies and their lags have passed, and only a pool makes it wait "
    "longer") {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const TaskGraph graph = competing_graph(seed);
    const Timeline timeline = run_on(graph, kLinks);
    for (TaskId task = 0; task < graph.tasks().size(); ++task) {
      CAPTURE(seed, task);
      REQUIRE(timeline.spans[task].start >= ready(graph, timeline, task));
      REQUIRE(timeline.spans[task].end >= timeline.spans[task].start);
      if (graph.tasks()[task].pool == kNone)
        REQUIRE(timeline.spans[task].start == ready(graph, timeline, task));
    }
  }
}

TEST_CASE("law: a pool serves who was ready first, and who waits is released by a task of the same pool") {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const TaskGraph graph = competing_graph(seed);
    const Timeline timeline = run_on(graph, kLinks);
    for (TaskId a = 0; a < graph.tasks().size(); ++a) {
      const PoolId pool = graph.tasks()[a].pool;
      if (pool == kNone) continue;
      CAPTURE(seed, a);
      if (timeline.spans[a].start > ready(graph, timeline, a))
        REQUIRE(graph.tasks()[timeline.spans[a].released_by].pool == pool);
      for (TaskId b = 0; b < graph.tasks().size(); ++b) {
        const bool earlier =
            graph.tasks()[b].pool == pool && ready(graph, timeline, b) < ready(graph, timeline, a);
        if (earlier) REQUIRE(timeline.spans[b].start <= timeline.spans[a].start);
      }
    }
  }
}

TEST_CASE("law: a kernel takes its length at least, and less than its length over the least speed") {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const TaskGraph graph = competing_graph(seed);
    const Timeline timeline = run_on(graph, kLinks);
    for (TaskId task = 0; task < graph.tasks().size(); ++task) {
      if (graph.tasks()[task].kind != TaskKind::kernel) continue;
      const Time took = timeline.end_of(task) - timeline.spans[task].start;
      REQUIRE(took >= graph.tasks()[task].duration);
      REQUIRE(took <= 20 * graph.tasks()[task].duration);
    }
  }
}

TEST_CASE("law: without contention, more bandwidth makes no task end later") {
  std::vector<ByteRate> wider = kLinks;
  for (ByteRate& link : wider) link = link * 1.7;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const TaskGraph graph = RandomGraph(seed).build_with_traffic_only();
    const auto narrow_links = make_ideal_network(kLinks), wide_links = make_ideal_network(wider);
    const Timeline narrow = run(graph, *narrow_links), wide = run(graph, *wide_links);
    for (TaskId task = 0; task < graph.tasks().size(); ++task)
      REQUIRE(wide.end_of(task) <= narrow.end_of(task));
  }
}

TEST_CASE("law: contention makes no transfer end earlier") {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const TaskGraph graph = RandomGraph(seed).build_with_traffic_only();
    const auto ideal = make_ideal_network(kLinks);
    const Timeline alone = run(graph, *ideal), shared = run_on(graph, kLinks);
    // Up to one picosecond of rounding per task on the way.
    for (TaskId task = 0; task < graph.tasks().size(); ++task)
      REQUIRE(shared.end_of(task) + Time{100} >= alone.end_of(task));
  }
}

}  // namespace executor_laws
