// Sums by account over the pieces of a walk.
//
// Every span names the task that released it, so the critical path is a walk back from the last task: its own
// time, then the lag, then the task that released it, and so on. Each moment between the two ends of the walk
// belongs to exactly one task. That is why a breakdown sums to the step without a remainder.
#include "sim/engine/timeline.hpp"

#include "sim/engine/path_walk.hpp"

namespace foretrain {

namespace {

/// Returns a function that adds a piece to the account of its task.
auto adder_to(CriticalPath& path, const TaskGraph& graph) {
  return [&path, &graph](TaskId task, Time spent, Time lag) {
    const std::size_t account = graph.tasks()[task].account;
    assert(account < CriticalPath::kAccounts);
    path.spent[account] += spent;
    path.lag[account] += lag;
  };
}

}  // namespace

CriticalPath critical_path(const TaskGraph& graph, const Timeline& timeline, TaskId last, Time from) {
  CriticalPath path;
  path.total = timeline.end_of(last) - from;
  walk_critical_path(timeline, last, from, adder_to(path, graph));
  return path;
}

std::vector<PathPiece> queue_path(const TaskGraph& graph, const Timeline& timeline, QueueId queue, Time from,
                                  Time until, TaskId first) {
  std::vector<PathPiece> pieces;
  pieces.reserve(graph.tasks().size() - first);
  const auto take = [&pieces](TaskId task, Time spent, Time lag) { pieces.push_back({task, spent, lag}); };
  walk_queue(graph, timeline, queue, from, until, take, first);
  return pieces;
}

CriticalPath sum_of(const TaskGraph& graph, const std::vector<PathPiece>& pieces) {
  CriticalPath sum;
  const auto add = adder_to(sum, graph);
  for (const auto& [task, spent, lag] : pieces) {
    add(task, spent, lag);
    sum.total += spent + lag;
  }
  return sum;
}

}  // namespace foretrain
