// The walk back piece by piece, of which sums by account are made.
#include "sim/engine/path_walk.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace path_walk_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

struct Piece {
  TaskId task;
  Time spent, lag;
  bool operator==(const Piece&) const = default;
};

/// Call 0-5 us, latency 2 us, kernel 7-17 us.
struct Launch {
  TaskGraph graph;
  QueueId stream;
  TaskId call, kernel;
  Timeline timeline;

  Launch() {
    const QueueId host = graph.add_queue("host");
    stream = graph.add_queue("stream");
    call = graph.add(host_task(host, 5 * us));
    kernel = graph.add(kernel_task(stream, 10 * us), {{call, 2 * us}});
    timeline = run_on(graph);
  }
};

std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  return out << "task " << piece.task << ": " << piece.spent / us << " us, lag " << piece.lag / us << " us";
}

}  // namespace

TEST_CASE("the pieces of a path are its tasks from the last to the first, each with the wait before it") {
  const Launch launch;
  std::vector<Piece> pieces;
  walk_critical_path(launch.timeline, launch.kernel, Time::zero(), [&](TaskId task, Time spent, Time lag) {
    pieces.push_back({task, spent, lag});
  });
  CHECK(pieces == std::vector<Piece>{{launch.kernel, 10 * us, 2 * us}, {launch.call, 5 * us, Time::zero()}});
}

TEST_CASE("a path is clipped at the moment where it is to begin") {
  const Launch launch;
  std::vector<Piece> pieces;
  walk_critical_path(launch.timeline, launch.kernel, 6 * us, [&](TaskId task, Time spent, Time lag) {
    pieces.push_back({task, spent, lag});
  });
  CHECK(pieces == std::vector<Piece>{{launch.kernel, 10 * us, us}});
}

TEST_CASE("the pieces of a queue are its tasks, and in a gap the path of the task that ends it") {
  const Launch launch;
  std::vector<Piece> pieces;
  walk_queue(launch.graph, launch.timeline, launch.stream, Time::zero(), 17 * us,
             [&](TaskId task, Time spent, Time lag) {
               pieces.push_back({task, spent, lag});
             });
  CHECK(pieces == std::vector<Piece>{{launch.call, 5 * us, Time::zero()}, {launch.kernel, 10 * us, 2 * us}});
}

}  // namespace path_walk_test
