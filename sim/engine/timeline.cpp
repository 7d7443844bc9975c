// The walk back: a task's time, then the lag before it, then whatever released it.
#include "sim/engine/timeline.hpp"

#include <algorithm>
#include <cassert>

namespace foretrain {

CriticalPath critical_path(const TaskGraph& graph, const Timeline& timeline, TaskId last, Time from) {
  CriticalPath path;
  path.total = timeline.end_of(last) - from;
  assert(from >= Time::zero() && path.total >= Time::zero());
  TaskId task = last;
  Time until = timeline.end_of(last);
  while (until > from && task != kNone) {
    const Span& span = timeline.spans[task];
    const std::size_t account = graph.tasks()[task].account;
    assert(account < CriticalPath::kAccounts);
    const Time begin = std::max(span.start, from);
    path.spent[account] += until - begin;
    const Time released = std::max(span.start - span.lag, from);
    path.lag[account] += begin - std::min(begin, released);
    until = released;
    task = span.released_by;
  }
  if (until > from && last != kNone) path.lag[graph.tasks()[last].account] += until - from;
  return path;
}

namespace {

void add(CriticalPath& sum, const CriticalPath& part) {
  for (std::size_t account = 0; account < CriticalPath::kAccounts; ++account) {
    sum.spent[account] += part.spent[account];
    sum.lag[account] += part.lag[account];
  }
}

/// The gap before `task`: its own lag, then the way to the task that released it.
void add_gap(CriticalPath& sum, const TaskGraph& graph, const Timeline& timeline, TaskId task, Time from) {
  const Span& span = timeline.spans[task];
  const Time released = std::max(span.start - span.lag, from);
  sum.lag[graph.tasks()[task].account] += span.start - released;
  if (released > from) add(sum, critical_path(graph, timeline, span.released_by, from));
}

}  // namespace

CriticalPath queue_time(const TaskGraph& graph, const Timeline& timeline, QueueId queue, Time from, Time until) {
  CriticalPath sum;
  sum.total = until - from;
  Time at = from;
  for (TaskId task = 0; task < graph.tasks().size() && at < until; ++task) {
    const Span& span = timeline.spans[task];
    if (graph.tasks()[task].queue != queue || span.end <= at) continue;
    if (span.start > at) add_gap(sum, graph, timeline, task, at);
    sum.spent[graph.tasks()[task].account] += std::min(span.end, until) - std::max(span.start, at);
    at = span.end;
  }
  return sum;
}

}  // namespace foretrain
