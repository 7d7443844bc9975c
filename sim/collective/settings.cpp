// The division of a node's GPUs among its processes and their threads.
#include "sim/collective/settings.hpp"

#include <algorithm>

namespace foretrain {

int processes_of(int stated, int ranks_per_node) { return stated > 0 ? stated : ranks_per_node; }

Launchers launchers_of(const CollectiveSettings& settings, int ranks_per_node) {
  const int processes = std::min(processes_of(settings.processes_per_node, ranks_per_node), ranks_per_node);
  const int wanted = std::max(1, processes * std::max(1, settings.threads_per_process));
  const int timers = std::clamp(wanted, 1, std::max(1, ranks_per_node));
  return {timers, (ranks_per_node + timers - 1) / timers};
}

}  // namespace foretrain
