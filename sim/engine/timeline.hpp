// What happened: when each task ran and which event let it start; and the accounts of the critical path
// between two moments.
#pragma once

#include <array>
#include <vector>

#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// When a task ran. `released_by` is the task whose end (plus `lag`) was the last thing it waited for: a
/// dependency, or the task that gave back the pool unit; kNone for a task that could start at time 0.
struct Span {
  Time start{};
  Time end{};
  TaskId released_by = kNone;
  Time lag{};
  friend bool operator==(const Span&, const Span&) = default;
};

/// One Span per task of the graph, same ids.
struct Timeline {
  std::vector<Span> spans;
  Time end_of(TaskId task) const { return spans[task].end; }
};

/// Time on the critical path per account (Task::account), and the waiting between a task's release and its
/// start (`lag`).
struct CriticalPath {
  static constexpr std::size_t kAccounts = 16;
  std::array<Time, kAccounts> spent{};
  std::array<Time, kAccounts> lag{};  ///< charged to the account of the task that waited
  Time total{};                       ///< exactly to - from
};

/// Walks back from the end of `last`, over released_by, to the moment `from`, clipping the first span there.
/// The shares sum to end_of(last) - from exactly. Requires 0 <= from <= end_of(last).
CriticalPath critical_path(const TaskGraph& graph, const Timeline& timeline, TaskId last, Time from);

/// A stretch of time that belongs to one task: it ran, or was released and waited.
struct PathPiece {
  TaskId task;
  Time spent, lag;
};

/// What one queue did between two moments, in pieces: its tasks, and of each gap the critical path of the
/// task that ends it. The pieces sum to until - from exactly. Requires 0 <= from <= until, and that the
/// queue's tasks reach `until`; those before `first` are known to end by `from`.
std::vector<PathPiece> queue_path(const TaskGraph& graph, const Timeline& timeline, QueueId queue, Time from,
                                  Time until, TaskId first = 0);

/// The accounts of pieces.
CriticalPath sum_of(const TaskGraph& graph, const std::vector<PathPiece>& pieces);

}  // namespace foretrain
