// The walk back along the critical path of a task, piece by piece. Sums by account and by label are made from
// it.
#pragma once

#include <algorithm>
#include <cassert>

#include "sim/engine/timeline.hpp"

namespace foretrain {

/// Calls `take(task, spent, lag)` for each task on the critical path of `last`, back to the moment `from` and
/// clipped there. `spent` is the time the task ran, `lag` the time between its release and its start. The
/// pieces sum to end_of(last) - from exactly. Requires 0 <= from <= end_of(last).
template <class Take>
void walk_critical_path(const Timeline& timeline, TaskId last, Time from, Take take) {
  assert(from >= Time::zero() && timeline.end_of(last) >= from);
  TaskId task = last;
  Time until = timeline.end_of(last);
  while (until > from && task != kNone) {
    const Span& span = timeline.spans[task];
    const Time begin = std::max(span.start, from);
    const Time released = std::max(span.start - span.lag, from);
    // The lag between the release and the start is charged to the task that waited.
    take(task, until - begin, begin - std::min(begin, released));
    until = released;
    task = span.released_by;
  }
  // The path can begin after `from` if its first task started without a predecessor; `last` gets the rest.
  if (until > from && last != kNone) take(last, Time::zero(), until - from);
}

/// Calls `take` for all that one queue did between two moments: its own tasks and, for each gap, the critical
/// path of the task that ends the gap. The pieces sum to until - from exactly. Requires 0 <= from <= until,
/// that the queue's tasks reach `until`, and that those before `first` end by `from`.
template <class Take>
void walk_queue(const TaskGraph& graph, const Timeline& timeline, QueueId queue, Time from, Time until,
                Take take, TaskId first = 0) {
  Time at = from;
  for (TaskId task = first; task < graph.tasks().size() && at < until; ++task) {
    const Span& span = timeline.spans[task];
    if (graph.tasks()[task].queue != queue || span.end <= at) continue;
    Time lag{};
    // A gap: the queue waited from `at` until the task was released, and then for the lag.
    if (span.start > at) {
      const Time released = std::max(span.start - span.lag, at);
      lag = span.start - released;
      if (released > at) walk_critical_path(timeline, span.released_by, at, take);
    }
    take(task, std::min(span.end, until) - std::max(span.start, at), lag);
    at = span.end;
  }
}

}  // namespace foretrain
