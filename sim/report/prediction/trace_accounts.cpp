// Shows the breakdown of a step over time. It repeats the breakdown's walk over the compute stream: its
// tasks, and in each gap the tasks on the critical path to the gap's end. So the pieces of an account sum to
// what the table prints.
//
// Idle time of the compute stream is charged to what the critical path did meanwhile: a collective, a copy, a
// loader or the host.
#include <algorithm>

#include <fmt/format.h>

#include "sim/engine/path_walk.hpp"
#include "sim/report/prediction/trace_events.hpp"

namespace foretrain {

namespace {

// The track that shows the breakdown.
class AccountLane {
 public:
  explicit AccountLane(const RankTrace& trace) : trace_(trace) {}

  /// Adds the pieces of one step, which ends with the task `last`.
  void add_step(TaskId last, Time from, Time until) {
    const TracedRank& rank = trace_.rank;
    const QueueId stream = rank.graph.tasks()[last].queue;
    Time at = from;
    for (TaskId task = rank.graph.first_on(stream); task != kNone && at < until;
         task = rank.graph.next_on_queue(task)) {
      const Span& span = rank.timeline.spans[task];
      // A task that ended before `at` is part of an earlier piece.
      if (span.end <= at) continue;
      if (span.start > at) add_gap(task, at);
      place(task, std::max(span.start, at), std::min(span.end, until), rank.graph.tasks()[task].account);
      at = span.end;
    }
  }

 private:
  /// Adds the gap before a task: what released it, walking back in time, and then its wait for the launch.
  void add_gap(TaskId task, Time at) {
    const Span& span = trace_.rank.timeline.spans[task];
    const Time released = std::max(span.start - span.lag, at);
    Time end = released;
    const auto take = [&](TaskId on_path, Time spent, Time lag) {
      place(on_path, end - spent, end, trace_.rank.graph.tasks()[on_path].account, task);
      end -= spent;
      place(on_path, end - lag, end, kHost, task);
      end -= lag;
    };
    if (released > at) walk_critical_path(trace_.rank.timeline, span.released_by, at, take);
    place(task, released, span.start, kHost, task);
  }

  /// Adds one piece with the task that caused it.
  void place(TaskId task, Time start, Time end, std::size_t account, TaskId waiting = kNone) {
    if (end <= start) return;
    const std::string_view name = account_name(account);
    TraceArguments arguments{{"by", json_string(trace_.names[task])}};
    if (waiting != kNone)
      arguments.emplace_back("compute_stream_waits_to_run", json_string(trace_.names[waiting]));
    trace_.events.span(trace_.process, RankTrace::kAccounts, std::string(name), "breakdown", start, end,
                       arguments);
  }

  static constexpr auto kHost = static_cast<std::size_t>(Account::host);
  const RankTrace& trace_;
};

}  // namespace

void add_accounts(const RankTrace& trace) {
  trace.events.thread_name(trace.process, RankTrace::kAccounts, "where the step goes");
  AccountLane lane(trace);
  Time begin{};
  for (const TaskId last : trace.rank.step_ends) {
    const Time end = trace.rank.timeline.end_of(last);
    if (begin >= trace.from && end > begin) lane.add_step(last, begin, end);
    begin = end;
  }
}

}  // namespace foretrain
