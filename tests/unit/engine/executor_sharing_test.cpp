// Tests of the executor where tasks compete: kernels beside collectives on a device, and flows on links.
#include "sim/base/diagnostics.hpp"
#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace executor_sharing_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("a kernel runs slower for as long as a collective takes its share of the device") {
  // Kernel of 10 us from 0. A collective takes a quarter from 4 to 8 us: work done 4 + 4 x 0.75 = 7, the last
  // 3 at full speed: 11 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  const QueueId nccl = graph.add_queue("nccl");
  const TaskId kernel = graph.add(kernel_task(graph.add_queue("stream"), 10 * us, gpu));
  graph.add(host_task(nccl, 4 * us));
  const TaskId collective = graph.add(occupying_task(nccl, 4 * us, gpu, 0.25));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.spans[collective].start == 4 * us);
  CHECK(timeline.end_of(collective) == 8 * us);
  CHECK(timeline.end_of(kernel) == 11 * us);
}

TEST_CASE("a kernel that starts beside a collective is slow from the start") {
  // Half the device until 6 us: 3 us of work done; 5 more: 11 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  graph.add(occupying_task(graph.add_queue("nccl"), 6 * us, gpu, 0.5));
  const TaskId kernel = graph.add(kernel_task(graph.add_queue("stream"), 8 * us, gpu));
  CHECK(run_on(graph).end_of(kernel) == 11 * us);
}

TEST_CASE("a kernel that ends beside a collective takes its length over what is left of the device") {
  // 3 us at speed 0.75 = 4 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  graph.add(occupying_task(graph.add_queue("nccl"), 100 * us, gpu, 0.25));
  const QueueId stream = graph.add_queue("stream");
  graph.add(kernel_task(stream, 3 * us, gpu));
  const TaskId second = graph.add(kernel_task(stream, 6 * us, gpu));
  // The second one from 4 us: 6 / 0.75 = 8 us.
  CHECK(run_on(graph).end_of(second) == 12 * us);
}

TEST_CASE("the shares of two collectives add up") {
  // Quarter + quarter from 0 to 4 us: 2 us of work; one quarter until 8 us: 3 us more; 1 left: 9 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  graph.add(occupying_task(graph.add_queue("a"), 4 * us, gpu, 0.25));
  graph.add(occupying_task(graph.add_queue("b"), 8 * us, gpu, 0.25));
  const TaskId kernel = graph.add(kernel_task(graph.add_queue("stream"), 6 * us, gpu));
  CHECK(run_on(graph).end_of(kernel) == 9 * us);
}

TEST_CASE("however much collectives take, a twentieth of the device is left to kernels") {
  // 1 us at 0.05 = 20 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  graph.add(occupying_task(graph.add_queue("a"), 100 * us, gpu, 0.9));
  graph.add(occupying_task(graph.add_queue("b"), 100 * us, gpu, 0.9));
  const TaskId kernel = graph.add(kernel_task(graph.add_queue("stream"), us, gpu));
  CHECK(run_on(graph).end_of(kernel) == 20 * us);
}

TEST_CASE("two kernels of one device are both slowed, those of another device are not") {
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu 0"), other = graph.add_device("gpu 1");
  graph.add(occupying_task(graph.add_queue("nccl"), 100 * us, gpu, 0.5));
  const TaskId first = graph.add(kernel_task(graph.add_queue("s0"), 3 * us, gpu));
  const TaskId second = graph.add(kernel_task(graph.add_queue("s1"), 4 * us, gpu));
  const TaskId elsewhere = graph.add(kernel_task(graph.add_queue("s2"), 4 * us, other));
  const Timeline timeline = run_on(graph);
  CHECK(timeline.end_of(first) == 6 * us);
  CHECK(timeline.end_of(second) == 8 * us);
  CHECK(timeline.end_of(elsewhere) == 4 * us);
}

TEST_CASE("a collective waits for its latency, then its bytes flow") {
  // 3 us, then 5000 B over 1 GB/s = 5 us.
  TaskGraph graph;
  const PatternId pattern = graph.add_pattern({{{0}, 1}});
  const TaskId collective = graph.add(collective_task(graph.add_queue("nccl"), 3 * us, pattern, {5000}));
  CHECK(run_on(graph, {{1e9}}).end_of(collective) == 8 * us);
}

TEST_CASE("a collective ends with the last of its flows, each with its weight") {
  // 4000 B x 0.5 over 1 GB/s = 2 us; x 1.5 over the other link of 1 GB/s = 6 us.
  TaskGraph graph;
  const PatternId pattern = graph.add_pattern({{{0}, 0.5}, {{1}, 1.5}});
  const TaskId collective =
      graph.add(collective_task(graph.add_queue("nccl"), Time::zero(), pattern, {4000}));
  CHECK(run_on(graph, {{1e9}, {1e9}}).end_of(collective) == 6 * us);
}

TEST_CASE("two collectives on one link share it while both flow") {
  // A: 4000 B from 0; B: latency 2 us, then 3000 B. Until 2 us A sends 2000 B alone; halves from there:
  // A's last 2000 B need 4 us, end at 6 us; by then B has sent 2000 of 3000 B, the rest alone: 7 us.
  TaskGraph graph;
  const PatternId pattern = graph.add_pattern({{{0}, 1}});
  const TaskId a = graph.add(collective_task(graph.add_queue("a"), Time::zero(), pattern, {4000}));
  const TaskId b = graph.add(collective_task(graph.add_queue("b"), 2 * us, pattern, {3000}));
  const Timeline timeline = run_on(graph, {{1e9}});
  CHECK(timeline.end_of(a) == 6 * us);
  CHECK(timeline.end_of(b) == 7 * us);
}

TEST_CASE("two collectives on one queue come one after the other") {
  TaskGraph graph;
  const PatternId pattern = graph.add_pattern({{{0}, 1}});
  const QueueId nccl = graph.add_queue("nccl");
  const TaskId first = graph.add(collective_task(nccl, us, pattern, {1000}));
  const TaskId second = graph.add(collective_task(nccl, us, pattern, {1000}));
  const Timeline timeline = run_on(graph, {{1e9}});
  CHECK(timeline.end_of(first) == 2 * us);
  CHECK(timeline.end_of(second) == 4 * us);
  CHECK(timeline.spans[second].released_by == first);
}

TEST_CASE("a collective with no traffic, or no flows, takes its latency alone") {
  TaskGraph graph;
  const PatternId link = graph.add_pattern({{{0}, 1}}), nothing = graph.add_pattern({});
  const TaskId silent = graph.add(collective_task(graph.add_queue("a"), 3 * us, link, {0}));
  const TaskId empty = graph.add(collective_task(graph.add_queue("b"), 3 * us, nothing, {5000}));
  const Timeline timeline = run_on(graph, {{1e9}});
  CHECK(timeline.end_of(silent) == 3 * us);
  CHECK(timeline.end_of(empty) == 3 * us);
}

TEST_CASE("a collective takes its share of the device during latency and flow") {
  // Collective: 2 us + 4000 B / 1 GB/s = until 6 us. Kernel of 10 us at half speed for 6 us: 3 done, 7 left:
  // 13 us.
  TaskGraph graph;
  const DeviceId gpu = graph.add_device("gpu");
  Task collective = collective_task(graph.add_queue("nccl"), 2 * us, graph.add_pattern({{{0}, 1}}), {4000});
  collective.device = gpu, collective.device_share = 0.5;
  graph.add(collective);
  const TaskId kernel = graph.add(kernel_task(graph.add_queue("stream"), 10 * us, gpu));
  CHECK(run_on(graph, {{1e9}}).end_of(kernel) == 13 * us);
}

TEST_CASE("a transfer that needs a pool holds its unit until the last byte") {
  // First copy 1 us + 2 us; the second asks at 0 and gets the unit at 3 us.
  TaskGraph graph;
  const PoolId engine = graph.add_pool("copy engine", 1);
  const PatternId pattern = graph.add_pattern({{{0}, 1}});
  Task copy = collective_task(graph.add_queue("a"), us, pattern, {2000});
  copy.pool = engine;
  const TaskId first = graph.add(copy);
  copy.queue = graph.add_queue("b");
  const TaskId second = graph.add(copy);
  const Timeline timeline = run_on(graph, {{1e9}});
  CHECK(timeline.end_of(first) == 3 * us);
  CHECK(timeline.spans[second].start == 3 * us);
  CHECK(timeline.end_of(second) == 6 * us);
}

TEST_CASE("a flow over a link without bandwidth stalls the simulation, and it says so") {
  TaskGraph graph;
  graph.add(collective_task(graph.add_queue("nccl"), us, graph.add_pattern({{{0}, 1}}), {1}));
  CHECK_THROWS_AS(run_on(graph, {{0}}), InputError);
}

TEST_CASE("other tasks still end before a stall is noticed, and a flow freed by them is no stall") {
  TaskGraph graph;
  const PatternId dead = graph.add_pattern({{{1}, 1}}), alive = graph.add_pattern({{{0}, 1}});
  graph.add(collective_task(graph.add_queue("a"), us, alive, {1000}));
  CHECK_NOTHROW(run_on(graph, {{1e9}, {0}}));
  graph.add(collective_task(graph.add_queue("b"), us, dead, {1000}));
  CHECK_THROWS_AS(run_on(graph, {{1e9}, {0}}), InputError);
}

TEST_CASE("traffic beyond any number of bytes neither overflows nor hangs") {
  TaskGraph graph;
  graph.add(collective_task(graph.add_queue("nccl"), us, graph.add_pattern({{{0}, 1e30}}), {1'000'000'000}));
  CHECK_THROWS_AS(run_on(graph, {{1}}), InputError);
}

TEST_CASE("on the ideal network two collectives do not see each other") {
  TaskGraph graph;
  const PatternId pattern = graph.add_pattern({{{0}, 1}});
  for (int i = 0; i < 2; ++i) graph.add(collective_task(graph.add_queue("nccl"), us, pattern, {4000}));
  const auto network = make_ideal_network({{1e9}});
  const Timeline timeline = run(graph, *network);
  CHECK(timeline.end_of(0) == 5 * us);
  CHECK(timeline.end_of(1) == 5 * us);
}

}  // namespace executor_sharing_test
