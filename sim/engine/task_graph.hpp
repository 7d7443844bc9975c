// The work of a step: tasks on queues, the order between them, and the resources and traffic that they need.
// This file knows neither a clock nor machine learning.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// Ids are indices into the arrays of the graph, in the order of the calls of add.
using TaskId = std::uint32_t;
using QueueId = std::uint32_t;
using PoolId = std::uint32_t;
using DeviceId = std::uint32_t;
using LinkId = std::uint32_t;
using PatternId = std::uint32_t;
using LabelId = std::uint32_t;
/// The id of nothing.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The kinds of task. Only kernels are slowed by tasks that take a share of their device. A wait task
/// occupies its queue and no other resource.
enum class TaskKind : std::uint8_t { host, kernel, copy, collective, wait };

/// A stream or a host thread: its tasks run one after the other in the order in which they were added.
struct Queue {
  std::string name;
};

/// A resource for which several queues compete: a mutex (capacity 1, such as the GIL) or CPU cores. Served
/// first come, first served.
struct Pool {
  std::string name;
  std::uint32_t capacity = 1;
};

/// A GPU whose kernels slow down while tasks that take a share of it run.
struct Device {
  std::string name;
};

/// A flow of a pattern: the links that it crosses, and its bytes per byte of the task's traffic.
struct PatternFlow {
  std::vector<LinkId> route;
  double weight = 1;
};

/// A task keeps its queue for `duration` (the latency of a transfer, the length of a kernel) before its
/// traffic starts. A task with a pattern ends when its last flow has ended; any other task ends after
/// `duration`.
struct Task {
  TaskKind kind = TaskKind::host;
  /// The account that the time is charged to. The planner gives the number its meaning.
  std::uint8_t account = 0;
  /// Required.
  QueueId queue = kNone;
  /// The task holds one unit of it from start to end.
  PoolId pool = kNone;
  /// The device it runs on. Kernels without a share of their own are stretched by tasks that take one.
  DeviceId device = kNone;
  /// Fraction of the device's throughput that the running task takes from other kernels, in [0, 1).
  double device_share = 0;
  Time duration{};
  /// Flows that start after `duration`.
  PatternId pattern = kNone;
  /// Bytes, which are multiplied by each flow's weight.
  Bytes traffic{};
  /// Names the task in a trace.
  LabelId label = kNone;
};

/// A task starts only when `before` has ended and `lag` has passed since (launch latency, wake-up).
struct Dependency {
  TaskId before;
  Time lag{};
};

/// A note on a task's traffic for programs that export the graph: an operation among some ranks, how it is
/// carried out, the type of its elements, the pass it belongs to, and its size. The planner gives the numbers
/// their meaning; nothing that runs the graph reads them.
struct TrafficNote {
  TaskId task = kNone;
  std::uint8_t operation = 0, among = 0, way = 0, type = 0, pass = 0;
  Bytes size{};
};

/// A directed acyclic graph of tasks. Every dependency points to a task that was added earlier, so the graph
/// cannot have a cycle, and the order of the ids is a topological order. Movable, not copyable. Not
/// thread-safe while it is built.
class TaskGraph {
 public:
  QueueId add_queue(std::string name);
  PoolId add_pool(std::string name, std::uint32_t capacity);
  DeviceId add_device(std::string name);
  PatternId add_pattern(std::vector<PatternFlow> flows);
  /// Adds a pattern whose flows several graphs share in memory.
  PatternId share_pattern(std::shared_ptr<const std::vector<PatternFlow>> flows);
  /// Returns the id of the text; equal texts have one id.
  LabelId label(std::string_view text);

  /// Allocates memory for this many tasks, and for the dependencies of all of them.
  void reserve(std::size_t tasks, std::size_t dependencies);
  /// Appends a task to its queue and returns its id. Requires a known queue, pool, device and pattern, and
  /// dependencies on earlier tasks. Throws InputError beyond kMostTasks; a scenario that asks for more is a
  /// mistake.
  TaskId add(const Task& task, std::span<const Dependency> after = {});
  TaskId add(const Task& task, std::initializer_list<Dependency> after) {
    return add(task, std::span<const Dependency>(after.begin(), after.size()));
  }

  /// Multiplies the durations and the traffic of every collective and copy charged to `account` by `factor`.
  /// With factor 0 they take no time. Requires factor >= 0.
  void scale_transfers(std::uint8_t account, double factor);
  /// Does the same for every task charged to `account`.
  void scale_tasks(std::uint8_t account, double factor);

  /// Adds a note. Requires that notes come in the order of the tasks.
  void note_traffic(const TrafficNote& note) { traffic_notes_.push_back(note); }
  const std::vector<TrafficNote>& traffic_notes() const { return traffic_notes_; }

  /// Largest number of tasks of a graph.
  static constexpr std::size_t kMostTasks = 5'000'000;

  TaskGraph() = default;
  TaskGraph(TaskGraph&&) = default;
  TaskGraph& operator=(TaskGraph&&) = default;
  /// A graph is large, so it is moved and never copied.
  TaskGraph(const TaskGraph&) = delete;
  TaskGraph& operator=(const TaskGraph&) = delete;

  const std::vector<Task>& tasks() const { return tasks_; }
  /// Returns the dependencies of the task: first the previous task of its queue, if there is one, with lag 0;
  /// then those given to add().
  std::span<const Dependency> dependencies(TaskId task) const {
    const std::uint32_t first = first_dependency_[task];
    return {dependencies_.data() + first, first_dependency_[task + 1] - first};
  }
  std::size_t dependency_count() const { return dependencies_.size(); }
  const std::vector<Queue>& queues() const { return queues_; }
  const std::vector<Pool>& pools() const { return pools_; }
  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<PatternFlow>& pattern(PatternId id) const { return *patterns_[id]; }
  std::size_t pattern_count() const { return patterns_.size(); }
  /// Returns the text of a label, empty for kNone. The view is valid until the next label is added.
  std::string_view label_text(LabelId id) const;
  std::size_t label_count() const { return labels_.size(); }
  /// The last task added to the queue; kNone when it has none.
  TaskId last_on(QueueId queue) const { return last_on_[queue]; }
  /// The first task added to the queue; kNone when it has none.
  TaskId first_on(QueueId queue) const { return first_on_[queue]; }
  /// The task that was added next to the same queue; kNone when there is none.
  TaskId next_on_queue(TaskId task) const { return next_on_queue_[task]; }

 private:
  std::vector<Task> tasks_;
  /// Dependencies of task t are dependencies_[first_dependency_[t] .. first_dependency_[t + 1]).
  std::vector<std::uint32_t> first_dependency_{0};
  std::vector<Dependency> dependencies_;
  std::vector<Queue> queues_;
  /// First and last task per queue, and the next task of the same queue per task.
  std::vector<TaskId> first_on_, last_on_;
  std::vector<TaskId> next_on_queue_;
  std::vector<Pool> pools_;
  std::vector<Device> devices_;
  std::vector<std::shared_ptr<const std::vector<PatternFlow>>> patterns_;
  std::vector<TrafficNote> traffic_notes_;
  /// A text with its hash, so that the table grows without hashing again.
  struct Label {
    std::size_t hash;
    std::string text;
  };
  LabelId& place_of(std::size_t hash, std::string_view text);
  std::vector<Label> labels_;
  /// Hash table of labels with open addressing. Its size is a power of two; kNone marks a free place.
  std::vector<LabelId> label_places_;
};

}  // namespace foretrain
