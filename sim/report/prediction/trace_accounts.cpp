// The walk of the breakdown once more, with places in time: the compute stream's tasks, and in each gap what
// the critical path to its end did. Pieces of an account sum to what the table prints.
#include <algorithm>

#include <fmt/format.h>

#include "sim/engine/path_walk.hpp"
#include "sim/report/prediction/trace_events.hpp"

namespace foretrain {

namespace {

class AccountLane {
 public:
  explicit AccountLane(const RankTrace& trace) : trace_(trace) {}

  void add_step(TaskId last, Time from, Time until) {
    const TracedRank& rank = trace_.rank;
    const QueueId stream = rank.graph.tasks()[last].queue;
    Time at = from;
    for (TaskId task = rank.graph.first_on(stream); task != kNone && at < until;
         task = rank.graph.next_on_queue(task)) {
      const Span& span = rank.timeline.spans[task];
      if (span.end <= at) continue;
      if (span.start > at) add_gap(task, at);
      place(task, std::max(span.start, at), std::min(span.end, until), rank.graph.tasks()[task].account);
      at = span.end;
    }
  }

 private:
  /// Before a task: what released it, backwards, then its own wait for the launch.
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
