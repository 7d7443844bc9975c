// Tests of the executor without traffic: order, lags, pools, and who released whom.
#include "sim/engine/executor.hpp"

#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace executor_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("an empty graph has an empty timeline") { CHECK(run_on(TaskGraph()).spans.empty()); }

TEST_CASE("a task without dependencies starts at zero, released by nobody") {
  TaskGraph graph;
  const TaskId task = graph.add(host_task(graph.add_queue("main"), 3 * us));
  const Span span = run_on(graph).spans[task];
  CHECK(span.start == Time::zero());
  CHECK(span.end == 3 * us);
  CHECK(span.released_by == kNone);
}

TEST_CASE("the tasks of a queue run one after the other in the order they were added") {
  TaskGraph graph;
  const QueueId queue = graph.add_queue("main");
  for (const int length : {3, 1, 2}) graph.add(host_task(queue, length * us));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[1].start == 3 * us);
  CHECK(timeline.spans[2].start == 4 * us);
  CHECK(timeline.end_of(2) == 6 * us);
}

TEST_CASE("a kernel on an idle stream starts after its launch and the launch latency") {
  // The launch call ends at 5 us, the latency is 2 us: start at 7 us.
  TaskGraph graph;
  const QueueId host = graph.add_queue("host"), stream = graph.add_queue("stream");
  const TaskId launch = graph.add(host_task(host, 5 * us));
  const TaskId kernel = graph.add(kernel_task(stream, 10 * us), {{launch, 2 * us}});
  const Span span = run_on(graph).spans[kernel];
  CHECK(span.start == 7 * us);
  CHECK(span.released_by == launch);
  CHECK(span.lag == 2 * us);
}

TEST_CASE("a kernel on a busy stream starts when the one before it ends") {
  // Launches end at 5 and 10 us, so the second kernel could start at 12 us, but the first one runs from 7 to
  // 17 us.
  TaskGraph graph;
  const QueueId host = graph.add_queue("host"), stream = graph.add_queue("stream");
  const TaskId first =
      graph.add(kernel_task(stream, 10 * us), {{graph.add(host_task(host, 5 * us)), 2 * us}});
  const TaskId second =
      graph.add(kernel_task(stream, 1 * us), {{graph.add(host_task(host, 5 * us)), 2 * us}});
  const Span span = run_on(graph).spans[second];
  CHECK(span.start == 17 * us);
  CHECK(span.released_by == first);
  CHECK(span.lag == Time::zero());
}

TEST_CASE("small kernels leave a stream waiting for its host") {
  // Ten launches of 5 us; each kernel (1 us) is over long before the next launch: the last ends at 10 x 5 + 2
  // + 1 = 53 us.
  TaskGraph graph;
  const QueueId host = graph.add_queue("host"), stream = graph.add_queue("stream");
  for (int i = 0; i < 10; ++i)
    graph.add(kernel_task(stream, us), {{graph.add(host_task(host, 5 * us)), 2 * us}});
  CHECK(run_on(graph).spans.back().end == 53 * us);
}

TEST_CASE("of two dependencies that end together the first one counts as the releaser") {
  TaskGraph graph;
  const QueueId a = graph.add_queue("a"), b = graph.add_queue("b"), c = graph.add_queue("c");
  const TaskId in_queue = graph.add(host_task(c, 4 * us));
  const TaskId on_a = graph.add(host_task(a, 4 * us));
  const TaskId on_b = graph.add(host_task(b, 3 * us));
  // All three let go at 4 us; the queue's own task comes first in the list, then on_b, then on_a.
  const TaskId last = graph.add(host_task(c, us), {{on_b, us}, {on_a}});
  const TaskId other = graph.add(host_task(graph.add_queue("d"), us), {{on_b, us}, {on_a}});
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[last].released_by == in_queue);
  CHECK(timeline.spans[last].lag == Time::zero());
  CHECK(timeline.spans[other].released_by == on_b);
  CHECK(timeline.spans[other].lag == us);
}

TEST_CASE("the later of two dependencies is the releaser, wherever it stands in the list") {
  TaskGraph graph;
  const TaskId slow = graph.add(host_task(graph.add_queue("a"), 9 * us));
  const TaskId fast = graph.add(host_task(graph.add_queue("b"), 2 * us));
  const TaskId first = graph.add(host_task(graph.add_queue("c"), us), {{slow}, {fast}});
  const TaskId second = graph.add(host_task(graph.add_queue("d"), us), {{fast}, {slow}});
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[first].released_by == slow);
  CHECK(timeline.spans[second].released_by == slow);
}

TEST_CASE("two Python threads share the GIL as a pool of one") {
  // Each thread does 3 + 3 us under the lock. They alternate: a1 0-3, b1 3-6, a2 6-9, b2 9-12.
  TaskGraph graph;
  const PoolId gil = graph.add_pool("gil", 1);
  const QueueId a = graph.add_queue("a"), b = graph.add_queue("b");
  const TaskId a1 = graph.add(host_task(a, 3 * us, gil)), a2 = graph.add(host_task(a, 3 * us, gil));
  const TaskId b1 = graph.add(host_task(b, 3 * us, gil)), b2 = graph.add(host_task(b, 3 * us, gil));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[a1].start == Time::zero());
  CHECK(timeline.spans[b1].start == 3 * us);
  CHECK(timeline.spans[a2].start == 6 * us);
  CHECK(timeline.spans[b2].start == 9 * us);
  CHECK(timeline.spans[b1].released_by == a1);
  CHECK(timeline.spans[a2].released_by == b1);
}

TEST_CASE("work without the GIL goes on beside it") {
  TaskGraph graph;
  const PoolId gil = graph.add_pool("gil", 1);
  const TaskId locked = graph.add(host_task(graph.add_queue("a"), 3 * us, gil));
  const TaskId free = graph.add(host_task(graph.add_queue("b"), 3 * us));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.end_of(locked) == 3 * us);
  CHECK(timeline.end_of(free) == 3 * us);
}

TEST_CASE("a pool of two cores serves four loaders in two rounds") {
  TaskGraph graph;
  const PoolId cores = graph.add_pool("cores", 2);
  for (int i = 0; i < 4; ++i) graph.add(host_task(graph.add_queue("loader"), 4 * us, cores));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.end_of(1) == 4 * us);
  CHECK(timeline.spans[2].start == 4 * us);
  CHECK(timeline.end_of(3) == 8 * us);
}

TEST_CASE("a pool is served first come, first served, not by the order of the tasks") {
  // The holder keeps the lock until 10 us; the task added last asks at 1 us, the one added before it at 2 us.
  TaskGraph graph;
  const PoolId lock = graph.add_pool("lock", 1);
  graph.add(host_task(graph.add_queue("holder"), 10 * us, lock));
  const QueueId late = graph.add_queue("late"), early = graph.add_queue("early");
  graph.add(host_task(late, 2 * us));
  const TaskId second = graph.add(host_task(late, us, lock));
  graph.add(host_task(early, us));
  const TaskId first = graph.add(host_task(early, us, lock));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[first].start == 10 * us);
  CHECK(timeline.spans[second].start == 11 * us);
  CHECK(timeline.spans[second].released_by == first);
}

TEST_CASE("of two tasks that ask a pool at the same moment the one added first gets it") {
  TaskGraph graph;
  const PoolId lock = graph.add_pool("lock", 1);
  const QueueId a = graph.add_queue("a"), b = graph.add_queue("b");
  graph.add(host_task(b, us));
  graph.add(host_task(a, us));
  const TaskId on_b = graph.add(host_task(b, us, lock));
  const TaskId on_a = graph.add(host_task(a, us, lock));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[on_b].start == us);
  CHECK(timeline.spans[on_a].start == 2 * us);
}

TEST_CASE("a unit given back goes to who waits, not to who asks at that moment") {
  TaskGraph graph;
  const PoolId lock = graph.add_pool("lock", 1);
  const QueueId a = graph.add_queue("a"), b = graph.add_queue("b");
  graph.add(host_task(a, 2 * us, lock));
  const TaskId again = graph.add(host_task(a, 2 * us, lock));
  const TaskId waiting = graph.add(host_task(b, us, lock));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[waiting].start == 2 * us);
  CHECK(timeline.spans[again].start == 3 * us);
}

TEST_CASE("tasks of no length follow one another within one moment") {
  TaskGraph graph;
  const PoolId lock = graph.add_pool("lock", 1);
  const QueueId queue = graph.add_queue("main");
  graph.add(host_task(queue, us));
  for (int i = 0; i < 5; ++i) graph.add(host_task(queue, Time::zero(), i % 2 == 0 ? lock : kNone));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.end_of(5) == us);
  CHECK(timeline.spans[5].released_by == 4);
}

TEST_CASE("endless durations neither overflow nor run backward") {
  TaskGraph graph;
  const QueueId queue = graph.add_queue("main"), other = graph.add_queue("other");
  const PoolId lock = graph.add_pool("lock", 1);
  TaskId previous = graph.add(host_task(queue, kLongestTime));
  for (int i = 0; i < 20; ++i) {
    previous =
        graph.add(host_task(i % 2 == 0 ? other : queue, Time{std::numeric_limits<std::int64_t>::max()}, lock),
                  {{previous, kLongestTime}});
  }
  const Timeline timeline = run_on(graph);
  for (TaskId task = 1; task < timeline.spans.size(); ++task) {
    const Span& span = timeline.spans[task];
    CHECK(span.end >= span.start);
    CHECK(span.start == timeline.end_of(span.released_by) + span.lag);
  }
}

}  // namespace executor_test
