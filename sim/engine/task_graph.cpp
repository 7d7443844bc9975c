// Construction of a task graph: dependencies in one array, with rows by task.
#include "sim/engine/task_graph.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

/// Smallest size of the hash table of labels: a power of two, so that a mask finds the place of a hash.
constexpr std::size_t kFewestLabelPlaces = 512;

/// Throws the error for a graph that is too large. The message says what would make it smaller.
[[noreturn]] void refuse_more_tasks() {
  throw InputError(
      fmt::format("the simulated steps have more than {} tasks", TaskGraph::kMostTasks),
      "a network with fewer layers, less accumulation, or larger buckets and partitions have fewer");
}

}  // namespace

QueueId TaskGraph::add_queue(std::string name) {
  queues_.push_back({std::move(name)});
  first_on_.push_back(kNone);
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
  return share_pattern(std::make_shared<const std::vector<PatternFlow>>(std::move(flows)));
}

PatternId TaskGraph::share_pattern(std::shared_ptr<const std::vector<PatternFlow>> flows) {
  patterns_.push_back(std::move(flows));
  return static_cast<PatternId>(patterns_.size() - 1);
}

/// Returns the place of the label in the hash table, or the free place where it would stand. Requires a free
/// place.
LabelId& TaskGraph::place_of(std::size_t hash, std::string_view text) {
  std::size_t place = hash;
  while (true) {
    LabelId& id = label_places_[place & (label_places_.size() - 1)];
    if (id == kNone || (labels_[id].hash == hash && labels_[id].text == text)) return id;
    ++place;
  }
}

/// Linear probing in a table that is at most half full: O(1) on average.
LabelId TaskGraph::label(std::string_view text) {
  // At most half of the places are taken, so that a search soon meets a free one.
  if (label_places_.size() <= 2 * labels_.size()) {
    label_places_.assign(std::max(kFewestLabelPlaces, 2 * label_places_.size()), kNone);
    labels_.reserve(label_places_.size() / 2);
    for (LabelId id = 0; id < labels_.size(); ++id) place_of(labels_[id].hash, labels_[id].text) = id;
  }
  const std::size_t hash = std::hash<std::string_view>()(text);
  LabelId& id = place_of(hash, text);
  if (id != kNone) return id;
  labels_.push_back({hash, std::string(text)});
  return id = static_cast<LabelId>(labels_.size() - 1);
}

std::string_view TaskGraph::label_text(LabelId id) const {
  return id < labels_.size() ? std::string_view(labels_[id].text) : std::string_view();
}

void TaskGraph::reserve(std::size_t tasks, std::size_t dependencies) {
  tasks_.reserve(tasks);
  next_on_queue_.reserve(tasks);
  first_dependency_.reserve(tasks + 1);
  dependencies_.reserve(dependencies);
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
  (previous == kNone ? first_on_[task.queue] : next_on_queue_[previous]) = id;
  next_on_queue_.push_back(kNone);
  // The order of a queue is a dependency like any other; it comes first in the row.
  if (previous != kNone) dependencies_.push_back({previous, Time::zero()});
  previous = id;
  for (const Dependency& dependency : after) {
    assert(dependency.before < id && dependency.lag >= Time::zero());
    dependencies_.push_back(dependency);
  }
  first_dependency_.push_back(static_cast<std::uint32_t>(dependencies_.size()));
  return id;
}

namespace {

/// Scales duration and traffic. Without traffic the task loses its pattern, so that no flows start.
void scale(Task& task, double factor) {
  task.duration = seconds(to_seconds(task.duration) * factor);
  task.traffic = {static_cast<std::int64_t>(std::llround(static_cast<double>(task.traffic.count) * factor))};
  if (task.traffic.count == 0) task.pattern = kNone;
}

}  // namespace

void TaskGraph::scale_transfers(std::uint8_t account, double factor) {
  for (Task& task : tasks_)
    if (task.account == account && (task.kind == TaskKind::collective || task.kind == TaskKind::copy))
      scale(task, factor);
}

void TaskGraph::scale_tasks(std::uint8_t account, double factor) {
  for (Task& task : tasks_)
    if (task.account == account) scale(task, factor);
}

}  // namespace foretrain
