// Building a task graph: dependencies in one array, rows by task.
#include "sim/engine/task_graph.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

[[noreturn]] void refuse_more_tasks() {
  throw InputError(fmt::format("the simulated steps have more than {} tasks", TaskGraph::kMostTasks),
                   "a network with fewer layers, less accumulation, or larger buckets and partitions have fewer");
}

}  // namespace

QueueId TaskGraph::add_queue(std::string name) {
  queues_.push_back({std::move(name)});
  last_on_.push_back(kNone);
  return static_cast<QueueId>(queues_.size() - 1);
}

PoolId TaskGraph::add_pool(std::string name, std::uint32_t capacity) {
  assert(capacity > 0);
  pools_.push_back({std::move(name), capacity});
  return static_cast<PoolId>(pools_.size() - 1);
}

DeviceId TaskGraph::add_device(std::string name) {
  devices_.push_back({std::move(name)});
  return static_cast<DeviceId>(devices_.size() - 1);
}

PatternId TaskGraph::add_pattern(std::vector<PatternFlow> flows) {
  patterns_.push_back(std::move(flows));
  return static_cast<PatternId>(patterns_.size() - 1);
}

LabelId TaskGraph::label(std::string_view text) {
  const auto known = label_ids_.find(text);
  if (known != label_ids_.end()) return known->second;
  labels_.emplace_back(text);
  const auto id = static_cast<LabelId>(labels_.size() - 1);
  label_ids_.emplace(labels_.back(), id);
  return id;
}

std::string_view TaskGraph::label_text(LabelId id) const {
  return id < labels_.size() ? std::string_view(labels_[id]) : std::string_view();
}

TaskId TaskGraph::add(const Task& task, std::span<const Dependency> after) {
  if (tasks_.size() >= kMostTasks) refuse_more_tasks();
  const auto id = static_cast<TaskId>(tasks_.size());
  assert(task.queue < queues_.size() && task.duration >= Time::zero());
  assert(task.pool == kNone || task.pool < pools_.size());
  assert(task.device == kNone || task.device < devices_.size());
  assert(task.pattern == kNone || task.pattern < patterns_.size());
  tasks_.push_back(task);
  TaskId& previous = last_on_[task.queue];
  if (previous != kNone) dependencies_.push_back({previous, Time::zero()});
  previous = id;
  for (const Dependency& dependency : after) {
    assert(dependency.before < id && dependency.lag >= Time::zero());
    dependencies_.push_back(dependency);
  }
  first_dependency_.push_back(static_cast<std::uint32_t>(dependencies_.size()));
  return id;
}

void TaskGraph::scale_transfers(std::uint8_t account, double factor) {
  for (Task& task : tasks_) {
    if (task.account != account || (task.kind != TaskKind::collective && task.kind != TaskKind::copy)) continue;
    task.duration = seconds(to_seconds(task.duration) * factor);
    task.traffic = {static_cast<std::int64_t>(std::llround(static_cast<double>(task.traffic.count) * factor))};
  }
}

std::span<const Dependency> TaskGraph::dependencies(TaskId task) const {
  return std::span(dependencies_).subspan(first_dependency_[task], first_dependency_[task + 1] - first_dependency_[task]);
}

}  // namespace foretrain
