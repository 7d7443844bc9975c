// The result of a run: when each task ran and which event let it start; and the accounts of the critical path
// between two moments.
#pragma once

#include <array>
#include <vector>

#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// The time for which a task ran. `released_by` is the task for which it waited last: a dependency, or the
/// task that gave back the pool unit; kNone if nothing held it up at time 0. The task was released at the end
/// of `released_by` plus `lag`.
struct Span {
  Time start{};
  Time end{};
  TaskId released_by = kNone;
  /// Time between the end of `released_by` and the start.
  Time lag{};
  friend bool operator==(const Span&, const Span&) = default;
};

/// The spans of all tasks of the graph, by TaskId.
struct Timeline {
  std::vector<Span> spans;
  Time end_of(TaskId task) const { return spans[task].end; }
};

/// Time on the critical path per account (Task::account), and the waiting between a task's release and its
/// start.
struct CriticalPath {
  /// Number of accounts; Task::account is below it.
  static constexpr std::size_t kAccounts = 16;
  /// Time for which tasks of the account ran.
  std::array<Time, kAccounts> spent{};
  /// Waiting, charged to the account of the task that waited.
  std::array<Time, kAccounts> lag{};
  /// Sum of all entries above: exactly the length of the interval.
  Time total{};
};

/// Walks back from the end of `last` over released_by to the moment `from`, and clips the first span there.
/// The parts sum to end_of(last) - from exactly. Requires 0 <= from <= end_of(last). O(tasks on the path).
CriticalPath critical_path(const TaskGraph& graph, const Timeline& timeline, TaskId last, Time from);

/// A stretch of time that belongs to one task: it ran (`spent`), or was released and waited (`lag`).
struct PathPiece {
  TaskId task;
  Time spent, lag;
};

/// Returns what one queue did between two moments, in pieces: its own tasks and, for each gap, the critical
/// path of the task that ends it. The pieces sum to until - from exactly. Requires 0 <= from <= until, that
/// the queue's tasks reach `until`, and that those before `first` end by `from`.
std::vector<PathPiece> queue_path(const TaskGraph& graph, const Timeline& timeline, QueueId queue, Time from,
                                  Time until, TaskId first = 0);

/// Returns the sums of the pieces by account.
CriticalPath sum_of(const TaskGraph& graph, const std::vector<PathPiece>& pieces);

}  // namespace foretrain
