// Laws of the executor over 2,000 random task graphs: lags, dependencies, queues, pools, the critical path,
// and a plain twin.
#include <algorithm>
#include <map>
#include <numeric>

#include "sim/base/random.hpp"
#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/event_executor.hpp"
#include "tests/support/naive_executor.hpp"

namespace engine_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint64_t kGraphs = 2000;
const CounterRandom kRandom(77);

struct Kinds {
  bool pools = false;
  bool traffic = false;
};

/// Draws one after the other from the stream of one graph.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(kRandom.bits(seed_, index_++) % limit);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  /// Few distinct values, zero among them, so that ties are common.
  Time time() { return Time{below(8) * 1000}; }

 private:
  std::uint64_t seed_, index_ = 0;
};

const std::vector<ByteRate> kLinks{{1e9}, {2e9}, {0.7e9}, {1e9}};

void add_resources(TaskGraph& graph, Draw& draw) {
  for (std::uint32_t n = 1 + draw.below(5); n > 0; --n) graph.add_queue("queue");
  for (std::uint32_t n = 0; n < 2; ++n) graph.add_pool("pool", 1 + draw.below(3));
  graph.add_device("gpu");
  graph.add_pattern({{{0, 1}, 1}, {{1, 2}, 0.5}});
  graph.add_pattern({{{2, 3}, 1}, {{}, 1}, {{0}, 0}});
}

Task random_task(const TaskGraph& graph, Kinds kinds, Draw& draw) {
  Task task;
  task.queue = draw.below(graph.queues().size());
  task.duration = draw.time();
  task.account = static_cast<std::uint8_t>(draw.below(CriticalPath::kAccounts));
  if (kinds.pools && draw.one_in(2)) task.pool = draw.below(graph.pools().size());
  if (!kinds.traffic) return task;
  task.kind = draw.one_in(3) ? TaskKind::collective : TaskKind::kernel;
  if (draw.one_in(2)) task.device = 0;
  if (task.kind != TaskKind::collective) return task;
  task.device_share = draw.one_in(2) ? 0.3 : 0;
  if (draw.one_in(4)) return task;
  task.pattern = draw.below(graph.pattern_count());
  task.traffic = {draw.below(30)};
  return task;
}

TaskGraph random_graph(std::uint64_t seed, Kinds kinds) {
  Draw draw(seed);
  TaskGraph graph;
  add_resources(graph, draw);
  for (std::uint32_t id = 0, count = 1 + draw.below(60); id < count; ++id) {
    std::vector<Dependency> after;
    for (std::uint32_t n = id == 0 ? 0 : draw.below(4); n > 0; --n)
      after.push_back({draw.below(id), draw.time()});
    graph.add(random_task(graph, kinds, draw), after);
  }
  return graph;
}

Timeline run_fluid(const TaskGraph& graph) {
  const auto network = make_max_min_network(kLinks);
  return run(graph, *network);
}

/// Calls check(graph, timeline) for plain graphs, graphs with pools, with traffic, and with both.
template <class Check>
void for_random_graphs(const Check& check) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = random_graph(seed, {seed % 2 == 1, seed % 4 >= 2});
    check(graph, run_fluid(graph));
  }
}

}  // namespace

TEST_CASE("law: a task starts exactly at the end of what released it plus the lag") {
  for_random_graphs([](const TaskGraph&, const Timeline& timeline) {
    for (const Span& span : timeline.spans) {
      const Time released =
          span.released_by == kNone ? Time::zero() : timeline.end_of(span.released_by) + span.lag;
      REQUIRE(span.start == released);
    }
  });
}

TEST_CASE("law: no task starts before any of its dependencies and lags have passed") {
  for_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    for (TaskId task = 0; task < timeline.spans.size(); ++task) {
      for (const Dependency& d : graph.dependencies(task))
        REQUIRE(timeline.spans[task].start >= timeline.end_of(d.before) + d.lag);
    }
  });
}

TEST_CASE("law: a queue runs its tasks one at a time, in the order they were added") {
  for_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    std::vector<Time> free(graph.queues().size());
    for (TaskId task = 0; task < timeline.spans.size(); ++task) {
      Time& end = free[graph.tasks()[task].queue];
      REQUIRE(timeline.spans[task].start >= end);
      end = timeline.end_of(task);
    }
  });
}

TEST_CASE("law: a task keeps its queue for at least its duration, and exactly that when nothing competes") {
  for_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    for (TaskId id = 0; id < timeline.spans.size(); ++id) {
      const Task& task = graph.tasks()[id];
      const Time length = timeline.end_of(id) - timeline.spans[id].start;
      const bool fixed = task.pattern == kNone && (task.kind != TaskKind::kernel || task.device == kNone);
      REQUIRE(length >= task.duration);
      if (fixed) REQUIRE(length == task.duration);
    }
  });
}

TEST_CASE("law: a pool never lends more units than it has") {
  for_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    for (PoolId pool = 0; pool < graph.pools().size(); ++pool) {
      std::map<Time, int> change;
      for (TaskId id = 0; id < timeline.spans.size(); ++id) {
        if (graph.tasks()[id].pool != pool) continue;
        ++change[timeline.spans[id].start];
        --change[timeline.end_of(id)];
      }
      int taken = 0;
      for (const auto& [time, by] : change)
        REQUIRE((taken += by) <= static_cast<int>(graph.pools()[pool].capacity));
    }
  });
}

TEST_CASE("law: the critical path adds up to the picosecond, from any moment") {
  for_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    for (TaskId last = 0; last < timeline.spans.size(); last += 7) {
      for (std::int64_t part = 0; part <= 4; ++part) {
        const Time from = timeline.end_of(last) * part / 4;
        const CriticalPath path = critical_path(graph, timeline, last, from);
        const Time spent = std::accumulate(path.spent.begin(), path.spent.end(), Time::zero());
        REQUIRE(path.total == timeline.end_of(last) - from);
        REQUIRE(std::accumulate(path.lag.begin(), path.lag.end(), spent) == path.total);
        REQUIRE(std::ranges::min(path.spent) >= Time::zero());
        REQUIRE(std::ranges::min(path.lag) >= Time::zero());
      }
    }
  });
}

TEST_CASE("law: two runs of one graph are equal to the picosecond") {
  for_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    REQUIRE(run_fluid(graph).spans == timeline.spans);
  });
}

TEST_CASE("law: without pools and traffic the executor is its plain twin") {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = random_graph(seed, {});
    REQUIRE(run_fluid(graph).spans == naive_run(graph).spans);
  }
}

TEST_CASE("law: without pools and shared devices links without limit give the run without traffic") {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    CAPTURE(seed);
    TaskGraph with, without;
    Draw draw(seed);
    with.add_pattern({{{}, 1}});
    for (TaskGraph* graph : {&with, &without}) graph->add_queue("a"), graph->add_queue("b");
    for (TaskId id = 0; id < 30; ++id) {
      Task task;
      task.queue = draw.below(2), task.duration = draw.time();
      std::vector<Dependency> after;
      if (id > 0) after.push_back({draw.below(id), draw.time()});
      without.add(task, after);
      if (draw.one_in(2)) task.pattern = 0, task.traffic = {1 + draw.below(100)};
      with.add(task, after);
    }
    REQUIRE(run_fluid(with).spans == naive_run(without).spans);
  }
}

TEST_CASE("law: what is timed early is timed as by one event after the other, competition or not") {
  for_random_graphs([](const TaskGraph& graph, const Timeline&) {
    const auto network = make_max_min_network(kLinks), of_twin = make_max_min_network(kLinks);
    REQUIRE(run(graph, *network, Folding::off).spans == EventExecutor(graph, *of_twin).run().spans);
  });
}

}  // namespace engine_laws
