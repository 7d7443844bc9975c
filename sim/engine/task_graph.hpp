// What must happen: tasks on queues, the order between them, the resources and traffic they need. No clock,
// no machine learning.
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

using TaskId = std::uint32_t;
using QueueId = std::uint32_t;
using PoolId = std::uint32_t;
using DeviceId = std::uint32_t;
using LinkId = std::uint32_t;
using PatternId = std::uint32_t;
using LabelId = std::uint32_t;
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The kinds of task. Only kernels are slowed by tasks that take a share of their device; a wait task
/// occupies its queue and no other resource.
enum class TaskKind : std::uint8_t { host, kernel, copy, collective, wait };

/// A stream or a host thread: its tasks run one after the other, in the order they were added.
struct Queue {
  std::string name;
};

/// A resource several queues compete for: a mutex (capacity 1, say the GIL) or CPU cores. Served first come,
/// first served.
struct Pool {
  std::string name;
  std::uint32_t capacity = 1;
};

/// A GPU whose kernels slow down while tasks that take a share of it run.
struct Device {
  std::string name;
};

/// One stream of bytes of a pattern: the links it crosses and its bytes per byte of the task's traffic.
struct PatternFlow {
  std::vector<LinkId> route;
  double weight = 1;
};

/// One task. `duration` is the time it keeps its queue before its traffic starts (latency of a transfer,
/// length of a kernel); a task with a pattern ends when the last flow has ended.
struct Task {
  TaskKind kind = TaskKind::host;
  std::uint8_t account = 0;  ///< which account the time is charged to; the planner gives the meaning
  QueueId queue = kNone;     ///< required
  PoolId pool = kNone;       ///< holds one unit from start to end
  /// Where it runs; kernels without a share of their own are stretched by those who take one.
  DeviceId device = kNone;
  /// Fraction of the device's throughput the running task takes from other kernels, [0, 1).
  double device_share = 0;
  Time duration{};
  PatternId pattern = kNone;  ///< flows started after `duration`
  Bytes traffic{};            ///< multiplied by each flow's weight
  LabelId label = kNone;
};

/// `before` must have ended, and `lag` more must have passed (launch latency, wake-up).
struct Dependency {
  TaskId before;
  Time lag{};
};

/// What a task's traffic is, in numbers whose meaning the planner gives, for who writes the graph down: an
/// operation among some ranks, how it is carried out, what its elements are, in which pass, its size. Nothing
/// that runs the graph looks at it.
struct TrafficNote {
  TaskId task = kNone;
  std::uint8_t operation = 0, among = 0, way = 0, type = 0, pass = 0;
  Bytes size{};
};

/// A directed acyclic graph of tasks: every dependency points to a task added earlier.
class TaskGraph {
 public:
  QueueId add_queue(std::string name);
  PoolId add_pool(std::string name, std::uint32_t capacity);
  DeviceId add_device(std::string name);
  PatternId add_pattern(std::vector<PatternFlow> flows);
  /// Of flows that several graphs have.
  PatternId share_pattern(std::shared_ptr<const std::vector<PatternFlow>> flows);
  LabelId label(std::string_view text);  ///< interned

  /// Makes room for so many tasks and for the dependencies of all of them.
  void reserve(std::size_t tasks, std::size_t dependencies);
  /// Appends to the task's queue. Requires: known queue/pool/device/pattern, dependencies on earlier tasks.
  /// Throws InputError beyond kMostTasks: whatever asks for so many was not meant.
  TaskId add(const Task& task, std::span<const Dependency> after = {});
  TaskId add(const Task& task, std::initializer_list<Dependency> after) {
    return add(task, std::span<const Dependency>(after.begin(), after.size()));
  }

  /// Times and traffic of every collective and copy charged to `account` become `factor` times as long; with
  /// 0 they take no time. Requires factor >= 0.
  void scale_transfers(std::uint8_t account, double factor);
  /// The same for every task charged to `account`.
  void scale_tasks(std::uint8_t account, double factor);

  /// In the order of the tasks.
  void note_traffic(const TrafficNote& note) { traffic_notes_.push_back(note); }
  const std::vector<TrafficNote>& traffic_notes() const { return traffic_notes_; }

  static constexpr std::size_t kMostTasks = 5'000'000;

  TaskGraph() = default;
  TaskGraph(TaskGraph&&) = default;
  TaskGraph& operator=(TaskGraph&&) = default;
  TaskGraph(const TaskGraph&) = delete;  ///< large; move it
  TaskGraph& operator=(const TaskGraph&) = delete;

  const std::vector<Task>& tasks() const { return tasks_; }
  /// The task's dependencies: first the previous task of its queue if there is one (lag 0), then those given
  /// to add().
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
  std::string_view label_text(LabelId id) const;  ///< until the next label is added
  std::size_t label_count() const { return labels_.size(); }
  /// The last task added to a queue, kNone when it has none.
  TaskId last_on(QueueId queue) const { return last_on_[queue]; }
  /// The first one.
  TaskId first_on(QueueId queue) const { return first_on_[queue]; }
  /// The task of the same queue that was added next, kNone when there is none.
  TaskId next_on_queue(TaskId task) const { return next_on_queue_[task]; }

 private:
  std::vector<Task> tasks_;
  std::vector<std::uint32_t> first_dependency_{0};
  std::vector<Dependency> dependencies_;
  std::vector<Queue> queues_;
  std::vector<TaskId> first_on_, last_on_;
  std::vector<TaskId> next_on_queue_;
  std::vector<Pool> pools_;
  std::vector<Device> devices_;
  std::vector<std::shared_ptr<const std::vector<PatternFlow>>> patterns_;
  std::vector<TrafficNote> traffic_notes_;
  struct Label {
    std::size_t hash;
    std::string text;
  };
  LabelId& place_of(std::size_t hash, std::string_view text);
  std::vector<Label> labels_;
  /// A hash table with open addressing, a power of two; kNone: nothing there.
  std::vector<LabelId> label_places_;
};

}  // namespace foretrain
