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

}  // namespace foretrain
