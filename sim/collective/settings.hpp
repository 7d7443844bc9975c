// The settings of a job's collectives: the library's settings, and the launch of its processes.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/settings.hpp"

namespace foretrain {

/// The launch and measurement of collectives: NCCL's settings, processes on a node, and the loop of
/// nccl-tests.
struct CollectiveSettings {
  nccl::Settings nccl{};
  /// Processes of a node; 0: one per GPU. A process that drives several GPUs launches their kernels in
  /// sequence.
  int processes_per_node = 0;
  /// Threads that share the GPUs of a process and launch concurrently (nccl-tests -t).
  int threads_per_process = 1;
  /// Calls between two readings of the clock (nccl-tests -n).
  int iterations = 20;
  bool operator==(const CollectiveSettings&) const = default;
};

/// The threads among which the ranks of a node are divided. Each launches for its GPUs and has a timer.
struct Launchers {
  /// Threads of all processes of the node.
  int timers = 1;
  /// GPUs of the busiest thread.
  int gpus_per_timer = 1;
};
/// Returns the launching threads of a node.
Launchers launchers_of(const CollectiveSettings& settings, int ranks_per_node);

/// Returns the processes on a node; a `stated` number of 0 means one per GPU.
int processes_of(int stated, int ranks_per_node);

}  // namespace foretrain
