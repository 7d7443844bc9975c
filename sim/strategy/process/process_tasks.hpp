// The task that every call of a process begins with, and the share of memory that kernels of two streams get.
#pragma once

#include <cstdint>

#include "sim/engine/task_graph.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Kernels of two streams that wait for the same memory get an equal part of it each (docs/models/step.md).
inline constexpr int kMemorySharers = 2;

/// Returns a task of this kind and duration on a queue, charged to `account`; all else has its default.
inline Task task_of(TaskKind kind, Account account, QueueId queue, Time duration) {
  Task task;
  task.kind = kind;
  task.account = static_cast<std::uint8_t>(account);
  task.queue = queue;
  task.duration = duration;
  return task;
}

}  // namespace foretrain
