// Tests of the critical path: what the time between two moments was spent on.
#include "sim/engine/timeline.hpp"

#include <numeric>

#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace timeline_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint8_t kHost = 0, kCompute = 1, kCommunication = 2;

Task charged(Task task, std::uint8_t account) {
  task.account = account;
  return task;
}

Time sum_of(const CriticalPath& path) {
  const Time spent = std::accumulate(path.spent.begin(), path.spent.end(), Time::zero());
  return std::accumulate(path.lag.begin(), path.lag.end(), spent);
}

/// Launch call 0-5 us, latency 2 us, kernel 7-17 us, collective 17-26 us (3 us latency, 6000 B at 1 GB/s).
struct Step {
  TaskGraph graph;
  TaskId launch, kernel, collective;
  Timeline timeline;

  Step() {
    const QueueId host = graph.add_queue("host"), stream = graph.add_queue("stream"),
                  nccl = graph.add_queue("nccl");
    const PatternId pattern = graph.add_pattern({{{0}, 1}});
    launch = graph.add(charged(host_task(host, 5 * us), kHost));
    graph.add(charged(host_task(host, us), kHost));
    kernel = graph.add(charged(kernel_task(stream, 10 * us), kCompute), {{launch, 2 * us}});
    collective =
        graph.add(charged(collective_task(nccl, 3 * us, pattern, {6000}), kCommunication), {{kernel}});
    timeline = run_on(graph, {{1e9}});
  }
};

}  // namespace

TEST_CASE("the critical path charges host time, launch latency, kernel and collective to their accounts") {
  const Step step;
  const CriticalPath path = critical_path(step.graph, step.timeline, step.collective, Time::zero());
  CHECK(path.total == 26 * us);
  CHECK(path.spent[kHost] == 5 * us);
  CHECK(path.lag[kCompute] == 2 * us);
  CHECK(path.spent[kCompute] == 10 * us);
  CHECK(path.spent[kCommunication] == 9 * us);
  CHECK(sum_of(path) == path.total);
}

TEST_CASE("a path from the middle of a kernel counts the rest of it") {
  const Step step;
  const CriticalPath path = critical_path(step.graph, step.timeline, step.collective, 11 * us);
  CHECK(path.spent[kCompute] == 6 * us);
  CHECK(path.spent[kCommunication] == 9 * us);
  CHECK(path.spent[kHost] == Time::zero());
  CHECK(sum_of(path) == 15 * us);
}

TEST_CASE("a path from the middle of a lag counts the rest of it") {
  const Step step;
  const CriticalPath path = critical_path(step.graph, step.timeline, step.kernel, 6 * us);
  CHECK(path.lag[kCompute] == us);
  CHECK(path.spent[kCompute] == 10 * us);
  CHECK(path.total == 11 * us);
  CHECK(sum_of(path) == path.total);
}

TEST_CASE("a path from where a span begins leaves out what came before") {
  const Step step;
  const CriticalPath path = critical_path(step.graph, step.timeline, step.kernel, 7 * us);
  CHECK(path.lag[kCompute] == Time::zero());
  CHECK(path.spent[kCompute] == 10 * us);
  CHECK(sum_of(path) == 10 * us);
}

TEST_CASE("a path of no length is empty") {
  const Step step;
  const CriticalPath path = critical_path(step.graph, step.timeline, step.kernel, 17 * us);
  CHECK(path.total == Time::zero());
  CHECK(sum_of(path) == Time::zero());
}

TEST_CASE("a task that ran beside the critical path is not charged") {
  TaskGraph graph;
  const TaskId slow = graph.add(charged(host_task(graph.add_queue("a"), 9 * us), kCompute));
  const TaskId fast = graph.add(charged(host_task(graph.add_queue("b"), 2 * us), kCommunication));
  const TaskId last = graph.add(charged(host_task(graph.add_queue("c"), us), kHost), {{slow}, {fast}});
  const CriticalPath path = critical_path(graph, run_on(graph), last, Time::zero());
  CHECK(path.spent[kCompute] == 9 * us);
  CHECK(path.spent[kCommunication] == Time::zero());
  CHECK(sum_of(path) == 10 * us);
}

TEST_CASE("waiting for a lock is charged to the task that held it") {
  // The holder runs 0-8 us, the one that waited 8-9 us.
  TaskGraph graph;
  const PoolId gil = graph.add_pool("gil", 1);
  graph.add(charged(host_task(graph.add_queue("a"), 8 * us, gil), kCompute));
  const TaskId waited = graph.add(charged(host_task(graph.add_queue("b"), us, gil), kHost));
  const CriticalPath path = critical_path(graph, run_on(graph), waited, Time::zero());
  CHECK(path.spent[kCompute] == 8 * us);
  CHECK(path.spent[kHost] == us);
  CHECK(sum_of(path) == 9 * us);
}

TEST_CASE("a stretched kernel is charged the time it took, not its length") {
  // 4 us at half speed = 8 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  graph.add(charged(occupying_task(graph.add_queue("nccl"), 50 * us, gpu, 0.5), kCommunication));
  const TaskId kernel = graph.add(charged(kernel_task(graph.add_queue("stream"), 4 * us, gpu), kCompute));
  const CriticalPath path = critical_path(graph, run_on(graph), kernel, Time::zero());
  CHECK(path.spent[kCompute] == 8 * us);
  CHECK(path.spent[kCommunication] == Time::zero());
}

namespace {

/// A host thread whose calls take 10 us each, and a stream whose kernels take 4 us: the stream waits for the
/// host.
struct HostBound {
  foretrain::TaskGraph graph;
  foretrain::QueueId thread = graph.add_queue("thread"), stream = graph.add_queue("stream");

  foretrain::TaskId launch(std::uint8_t host_account, std::uint8_t kernel_account) {
    foretrain::Task call;
    call.queue = thread;
    call.account = host_account;
    call.duration = foretrain::microseconds(10);
    const foretrain::TaskId called = graph.add(call);
    foretrain::Task kernel;
    kernel.kind = foretrain::TaskKind::kernel;
    kernel.queue = stream;
    kernel.account = kernel_account;
    kernel.duration = foretrain::microseconds(4);
    return graph.add(kernel, {{called, foretrain::microseconds(1)}});
  }
};

}  // namespace

TEST_CASE("a queue's time is its tasks and, in its gaps, what the next task waited for") {
  using namespace foretrain;
  HostBound step;
  const TaskId first = step.launch(1, 0), last = step.launch(1, 0);
  const Timeline timeline = run(step.graph, *make_ideal_network({}));
  // Kernels run at 11..15 us and 21..25 us. Between the two ends: 4 us kernel, 1 us launch latency, 5 us of
  // the second call.
  const CriticalPath path = sum_of(step.graph, queue_path(step.graph, timeline, step.stream,
                                                          timeline.end_of(first), timeline.end_of(last)));
  CHECK(path.total == microseconds(10));
  CHECK(path.spent[0] == microseconds(4));
  CHECK(path.lag[0] == microseconds(1));
  CHECK(path.spent[1] == microseconds(5));
}

TEST_CASE("work that another queue does under a busy queue is not in its time") {
  using namespace foretrain;
  TaskGraph graph;
  const QueueId stream = graph.add_queue("stream"), nccl = graph.add_queue("nccl");
  const auto add = [&](QueueId queue, std::uint8_t account, double us) {
    Task task;
    task.kind = TaskKind::kernel;
    task.queue = queue;
    task.account = account;
    task.duration = microseconds(us);
    return graph.add(task);
  };
  add(stream, 0, 20);
  const TaskId reduced = add(nccl, 1, 26);
  Task after;
  after.queue = stream;
  after.duration = microseconds(3);
  const TaskId last = graph.add(after, {{reduced}});
  const Timeline timeline = run(graph, *make_ideal_network({}));
  // The collective takes 26 us, 20 of them under the kernel: 6 are exposed.
  const CriticalPath path =
      sum_of(graph, queue_path(graph, timeline, stream, Time::zero(), timeline.end_of(last)));
  CHECK(path.spent[0] == microseconds(23));
  CHECK(path.spent[1] == microseconds(6));
}

TEST_CASE("tasks that ended before need not be looked at again") {
  using namespace foretrain;
  HostBound step;
  step.launch(1, 0);
  const TaskId first = step.launch(1, 0), last = step.launch(1, 0);
  const Timeline timeline = run(step.graph, *make_ideal_network({}));
  const Time from = timeline.end_of(first), until = timeline.end_of(last);
  const std::vector<PathPiece> all = queue_path(step.graph, timeline, step.stream, from, until);
  const std::vector<PathPiece> after = queue_path(step.graph, timeline, step.stream, from, until, first + 1);
  REQUIRE(after.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(after[i].task == all[i].task);
    CHECK(after[i].spent == all[i].spent);
    CHECK(after[i].lag == all[i].lag);
  }
}

}  // namespace timeline_test
