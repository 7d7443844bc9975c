// Tests of building task graphs.
#include "sim/engine/task_graph.hpp"

#include "tests/support/catch.hpp"

namespace task_graph_test {

using namespace foretrain;

namespace {

Task on(QueueId queue) {
  Task task;
  task.queue = queue;
  return task;
}

std::vector<TaskId> tasks_before(const TaskGraph& graph, TaskId task) {
  std::vector<TaskId> out;
  for (const Dependency& dependency : graph.dependencies(task)) out.push_back(dependency.before);
  return out;
}

}  // namespace

TEST_CASE("a task waits for the one before it on its queue, without lag") {
  TaskGraph graph;
  const QueueId queue = graph.add_queue("main"), other = graph.add_queue("stream");
  const TaskId first = graph.add(on(queue));
  const TaskId aside = graph.add(on(other));
  const TaskId second = graph.add(on(queue));
  CHECK(tasks_before(graph, first).empty());
  CHECK(tasks_before(graph, aside).empty());
  REQUIRE(tasks_before(graph, second) == std::vector<TaskId>{first});
  CHECK(graph.dependencies(second)[0].lag == Time::zero());
}

TEST_CASE("given dependencies come after the one of the queue and keep their lags") {
  TaskGraph graph;
  const QueueId host = graph.add_queue("host"), stream = graph.add_queue("stream");
  const TaskId launch = graph.add(on(host));
  const TaskId kernel = graph.add(on(stream), {{launch, microseconds(3)}});
  const TaskId next = graph.add(on(stream), {{launch, microseconds(5)}});
  CHECK(tasks_before(graph, kernel) == std::vector<TaskId>{launch});
  CHECK(graph.dependencies(kernel)[0].lag == microseconds(3));
  CHECK(tasks_before(graph, next) == std::vector<TaskId>{kernel, launch});
  CHECK(graph.dependencies(next)[1].lag == microseconds(5));
}

TEST_CASE("dependencies may come from a list made at run time") {
  TaskGraph graph;
  const QueueId a = graph.add_queue("a"), b = graph.add_queue("b");
  std::vector<Dependency> after;
  for (int i = 0; i < 3; ++i) after.push_back({graph.add(on(a)), Time::zero()});
  CHECK(tasks_before(graph, graph.add(on(b), after)) == std::vector<TaskId>{0, 1, 2});
}

TEST_CASE("a queue knows its last task") {
  TaskGraph graph;
  const QueueId queue = graph.add_queue("main"), empty = graph.add_queue("idle");
  graph.add(on(queue));
  const TaskId last = graph.add(on(queue));
  CHECK(graph.last_on(queue) == last);
  CHECK(graph.last_on(empty) == kNone);
}

TEST_CASE("a queue's tasks are a chain from its first to its last") {
  TaskGraph graph;
  const QueueId a = graph.add_queue("a"), b = graph.add_queue("b"), empty = graph.add_queue("empty");
  const TaskId first = graph.add(on(a)), other = graph.add(on(b)), second = graph.add(on(a));
  CHECK(graph.first_on(a) == first);
  CHECK(graph.next_on_queue(first) == second);
  CHECK(graph.next_on_queue(second) == kNone);
  CHECK(graph.first_on(b) == other);
  CHECK(graph.next_on_queue(other) == kNone);
  CHECK(graph.first_on(empty) == kNone);
}

TEST_CASE("room reserved is not a task") {
  TaskGraph graph;
  graph.reserve(100, 200);
  CHECK(graph.tasks().empty());
  CHECK(graph.dependency_count() == 0);
}

TEST_CASE("a shared pattern is that of every graph that has it") {
  const auto flows =
      std::make_shared<const std::vector<PatternFlow>>(std::vector<PatternFlow>{{{3, 4}, 0.5}});
  TaskGraph one, other;
  one.add_pattern(std::vector<PatternFlow>{{{0}, 1}});
  CHECK(one.share_pattern(flows) == 1);
  CHECK(other.share_pattern(flows) == 0);
  CHECK(&one.pattern(1) == &other.pattern(0));
}

TEST_CASE("equal labels are one label") {
  TaskGraph graph;
  const LabelId forward = graph.label("forward");
  const LabelId backward = graph.label("backward");
  CHECK(forward != backward);
  CHECK(graph.label(std::string("for") + "ward") == forward);
  CHECK(graph.label_text(forward) == "forward");
  CHECK(graph.label_text(backward) == "backward");
}

TEST_CASE("an unknown label has an empty text") {
  const TaskGraph graph;
  CHECK(graph.label_text(kNone).empty());
  CHECK(graph.label_text(0).empty());
}

TEST_CASE("labels stay one label after many more were added and the graph was moved") {
  TaskGraph graph;
  const LabelId first = graph.label("a");  // short enough to live inside the string object
  for (int i = 0; i < 1000; ++i) graph.label("label " + std::to_string(i));
  TaskGraph moved = std::move(graph);
  CHECK(moved.label("a") == first);
  CHECK(moved.label("label 999") == 1000);
  CHECK(moved.label_text(first) == "a");
}

TEST_CASE("queues, pools, devices and patterns are numbered in the order they were added") {
  TaskGraph graph;
  CHECK(graph.add_queue("q0") == 0);
  CHECK(graph.add_queue("q1") == 1);
  CHECK(graph.add_pool("gil", 1) == 0);
  CHECK(graph.add_pool("cores", 40) == 1);
  CHECK(graph.add_device("gpu0") == 0);
  CHECK(graph.add_pattern({{{0, 1}, 0.5}}) == 0);
  CHECK(graph.queues()[1].name == "q1");
  CHECK(graph.pools()[1].capacity == 40);
  CHECK(graph.devices()[0].name == "gpu0");
  CHECK(graph.pattern_count() == 1);
  CHECK(graph.pattern(0)[0].route == std::vector<LinkId>{0, 1});
}

TEST_CASE("transfers of one account become longer, its host work and other accounts stay") {
  TaskGraph graph;
  const QueueId queue = graph.add_queue("stream");
  const auto add = [&](TaskKind kind, std::uint8_t account) {
    Task task = on(queue);
    task.kind = kind, task.account = account, task.duration = microseconds(4), task.traffic = {100};
    return graph.add(task);
  };
  const TaskId sum = add(TaskKind::collective, 1), copy = add(TaskKind::copy, 1),
               call = add(TaskKind::host, 1), input = add(TaskKind::copy, 2);
  graph.scale_transfers(1, 1.5);
  for (const TaskId task : {sum, copy}) {
    CHECK(graph.tasks()[task].duration == microseconds(6));
    CHECK(graph.tasks()[task].traffic == Bytes{150});
  }
  for (const TaskId task : {call, input}) {
    CHECK(graph.tasks()[task].duration == microseconds(4));
    CHECK(graph.tasks()[task].traffic == Bytes{100});
  }
}

TEST_CASE("tasks of one account take no time and send nothing when they are scaled to zero") {
  TaskGraph graph;
  const QueueId queue = graph.add_queue("stream");
  Task task = on(queue);
  task.kind = TaskKind::kernel, task.account = 1, task.duration = microseconds(4), task.traffic = {100};
  task.pattern = graph.add_pattern({{{0}, 1}});
  const TaskId gone = graph.add(task);
  task.account = 2;
  const TaskId stays = graph.add(task);
  graph.scale_tasks(1, 0);
  CHECK(graph.tasks()[gone].duration == Time::zero());
  CHECK(graph.tasks()[gone].pattern == kNone);
  CHECK(graph.tasks()[stays].duration == microseconds(4));
  CHECK(graph.tasks()[stays].pattern != kNone);
}

TEST_CASE("a graph of more than five million tasks is refused before it eats the memory") {
  TaskGraph graph;
  Task task;
  task.queue = graph.add_queue("stream");
  const auto fill = [&] {
    for (std::size_t i = 0; i <= TaskGraph::kMostTasks; ++i) graph.add(task);
  };
  CHECK_THROWS_WITH(fill(), ContainsSubstring("the simulated steps have more than 5000000 tasks"));
}

}  // namespace task_graph_test
