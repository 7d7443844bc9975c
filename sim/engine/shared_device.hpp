// A GPU on which kernels run beside collectives: how much slower the kernels get, and when they end.
#pragma once

#include <vector>

#include "sim/engine/horizon.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// Kernels run at 1 minus the sum of the shares taken, never below 0.05. Calls come with non-decreasing
/// `now`.
class SharedDevice {
 public:
  /// A kernel in progress.
  struct Running {
    TaskId task;
    double work_left;  ///< picoseconds at full speed
    Time since;
    Time end;
  };

  /// When a kernel of `length` at full speed would end if it began now and no collective started or ended
  /// before.
  Time end_of(Time length, Time now) const;
  /// It begins; the moment it ends if no collective starts or ends before.
  Time begin(TaskId kernel, Time length, Time now);
  /// A collective takes `share` of the device, or gives it back when negative: every kernel in progress gets
  /// a new end.
  void take(double share, Time now);
  /// Forgets the kernel and says true if `now` is its end by the latest reckoning; false for an end that was
  /// moved since.
  bool ended(TaskId kernel, Time now);
  const std::vector<Running>& running() const { return running_; }

 private:
  double speed() const;
  double taken_ = 0;
  std::vector<Running> running_;
};

}  // namespace foretrain
