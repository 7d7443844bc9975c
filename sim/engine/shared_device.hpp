// A GPU on which kernels run concurrently with collectives: how much slower the kernels get, and when they
// end.
#pragma once

#include <vector>

#include "sim/engine/horizon.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// The kernels in progress on one device. All run at 1 minus the sum of the shares taken, never below 0.05.
/// Calls come with non-decreasing `now`. The shares are an input (Task::device_share); this class does not
/// know their origin.
class SharedDevice {
 public:
  /// A kernel in progress.
  struct Running {
    TaskId task;
    /// Picoseconds of work left, at full speed, at the moment `since`.
    double work_left;
    Time since;
    /// End if no share changes before.
    Time end;
  };

  /// Returns when a kernel of `length` at full speed would end if it began now and no share changed before.
  /// Changes nothing.
  Time end_of(Time length, Time now) const;
  /// Adds a kernel and returns its end, which holds if no share changes before.
  Time begin(TaskId kernel, Time length, Time now);
  /// Adds `share` to the shares taken, or removes it when negative. Every kernel in progress gets a new end.
  void take(double share, Time now);
  /// Removes the kernel and returns true if `now` is the latest end computed for it. Returns false for an end
  /// that was moved since.
  bool ended(TaskId kernel, Time now);
  const std::vector<Running>& running() const { return running_; }

 private:
  double speed() const;
  double taken_ = 0;
  std::vector<Running> running_;
};

}  // namespace foretrain
