// A few words for writing task graphs by hand: host work, kernels, collectives.
#pragma once

#include "sim/engine/executor.hpp"

namespace foretrain::test {

inline constexpr Time us{1'000'000};

inline Task host_task(QueueId queue, Time duration, PoolId pool = kNone) {
  Task task;
  task.queue = queue, task.duration = duration, task.pool = pool;
  return task;
}

inline Task kernel_task(QueueId queue, Time duration, DeviceId device = kNone) {
  Task task = host_task(queue, duration);
  task.kind = TaskKind::kernel, task.device = device;
  return task;
}

/// Latency, then `traffic` over the pattern.
inline Task collective_task(QueueId queue, Time latency, PatternId pattern, Bytes traffic) {
  Task task = host_task(queue, latency);
  task.kind = TaskKind::collective, task.pattern = pattern, task.traffic = traffic;
  return task;
}

/// Takes `share` of a device for `duration`, without traffic.
inline Task occupying_task(QueueId queue, Time duration, DeviceId device, double share) {
  Task task = host_task(queue, duration);
  task.kind = TaskKind::collective, task.device = device, task.device_share = share;
  return task;
}

/// Runs on fluid links of the given capacities, in bytes per second.
inline Timeline run_on(const TaskGraph& graph, std::vector<ByteRate> capacities = {}) {
  const auto network = make_max_min_network(std::move(capacities));
  return run(graph, *network);
}

}  // namespace foretrain::test
