// Accounts are sums over the pieces of a walk.
#include "sim/engine/timeline.hpp"

#include "sim/engine/path_walk.hpp"

namespace foretrain {

namespace {

/// Adds pieces of a walk to the accounts of their tasks.
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

CriticalPath queue_time(const TaskGraph& graph, const Timeline& timeline, QueueId queue, Time from, Time until) {
  CriticalPath sum;
  sum.total = until - from;
  walk_queue(graph, timeline, queue, from, until, adder_to(sum, graph));
  return sum;
}

}  // namespace foretrain
