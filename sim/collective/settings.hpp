// How a job's collectives are to run: the library's settings and how its processes were launched.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/settings.hpp"

namespace foretrain {

/// How collectives are launched and measured: NCCL's settings, processes on a node, and the loop of
/// nccl-tests.
struct CollectiveSettings {
  nccl::Settings nccl{};
  /// 0: one per GPU; one process that drives several GPUs launches their kernels one after the other.
  int processes_per_node = 0;
  int threads_per_process = 1;  ///< that share out its GPUs, and launch at the same time (nccl-tests -t)
  int iterations = 20;          ///< calls between two looks at the clock (nccl-tests -n)
  bool operator==(const CollectiveSettings&) const = default;
};

/// How the ranks of a node are shared out among what launches for them, and has a timer each.
struct Launchers {
  int timers = 1;          ///< threads of all its processes
  int gpus_per_timer = 1;  ///< of the busiest
};
Launchers launchers_of(const CollectiveSettings& settings, int ranks_per_node);

/// Processes on a node; 0 stands for one per GPU.
int processes_of(int stated, int ranks_per_node);

}  // namespace foretrain
