// Tasks whose length cannot change once they are released (host work, kernels nobody disturbs) are timed as soon as their last
// predecessor is: a graph of fixed durations needs no agenda. Only tasks that compete go through the event queue: for a pool, for
// links, or for the GPU with a collective. Whatever is timed early lies in the future of the clock, so the order of events holds.
#include "sim/engine/executor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "sim/engine/event_queue.hpp"
#include "sim/engine/fold.hpp"
#include "sim/engine/shared_device.hpp"
#include "sim/engine/successors.hpp"

namespace foretrain {

namespace {

constexpr double kMostBytes = 4e18;

enum class EventKind : std::uint64_t { end, transfer, ready };

Event event_of(EventKind kind, Time time, TaskId task) { return {time, (static_cast<std::uint64_t>(kind) << 40) | task, task}; }
EventKind kind_of(const Event& event) { return static_cast<EventKind>(event.rank >> 40); }

class Executor {
 public:
  Executor(const TaskGraph& graph, Network& network, Folding folding);
  Timeline run();

 private:
  /// What a task is waiting for.
  struct Waiting {
    std::uint32_t missing = 0;
    std::uint32_t position = kNone;  ///< of the dependency that released it
    std::uint32_t flows = 0;
  };
  struct Line {
    std::uint32_t free = 0;
    std::deque<TaskId> waiting;
  };

  bool competes(const Task& task) const;
  /// A collective, or a kernel of another stream; itself it is not stretched.
  static bool takes_share(const Task& task) { return task.device != kNone && task.device_share > 0; }
  bool is_shared_kernel(const Task& task) const {
    return task.kind == TaskKind::kernel && task.device != kNone && is_shared_[task.device] && !takes_share(task);
  }
  void release(TaskId task);
  void settle();
  void handle(const Event& event);
  void request(TaskId task, Time now);
  void start(TaskId task, Time now);
  void begin_transfer(TaskId task, Time now);
  void finish(TaskId task, Time now);
  void give_back(PoolId pool, TaskId task, Time now);
  void share_device(const Task& task, double share, Time now);
  void end_flows(Time now);

  const TaskGraph& graph_;
  const std::vector<Task>& tasks_;
  Network& network_;
  FoldedPatterns patterns_;
  Successors successors_;
  Timeline timeline_;
  std::vector<Waiting> waiting_;
  std::vector<SharedDevice> devices_;
  std::vector<bool> is_shared_;  ///< devices some task takes a share of
  std::vector<Line> lines_;
  EventQueue agenda_;
  std::vector<TaskId> settled_;  ///< ended, successors not told yet
  std::vector<TaskId> task_of_flow_;
  std::vector<FlowId> idle_flows_, ended_flows_;
  std::size_t done_ = 0;
};

Executor::Executor(const TaskGraph& graph, Network& network, Folding folding)
    : graph_(graph),
      tasks_(graph.tasks()),
      network_(network),
      patterns_(graph, network.capacities(), folding),
      successors_(graph),
      waiting_(tasks_.size()),
      devices_(graph.devices().size()),
      is_shared_(devices_.size()) {
  timeline_.spans.resize(tasks_.size());
  for (const Pool& pool : graph.pools()) lines_.push_back({pool.capacity, {}});
  for (const Task& task : tasks_) {
    if (takes_share(task)) is_shared_[task.device] = true;
  }
}

bool Executor::competes(const Task& task) const {
  if (task.pool != kNone || task.pattern != kNone) return true;
  return is_shared_kernel(task) || takes_share(task);
}

/// All dependencies have ended; spans[task].start is the moment of release.
void Executor::release(TaskId task) {
  Span& span = timeline_.spans[task];
  if (competes(tasks_[task])) return agenda_.push(event_of(EventKind::ready, span.start, task));
  span.end = later(span.start, tasks_[task].duration);
  settled_.push_back(task);
}

/// Tells the successors of ended tasks, which may end others at once.
void Executor::settle() {
  while (!settled_.empty()) {
    const TaskId ended = settled_.back();
    settled_.pop_back();
    ++done_;
    const Time end = timeline_.spans[ended].end;
    for (const Successors::Edge& edge : successors_.of(ended)) {
      Span& span = timeline_.spans[edge.task];
      Waiting& waiting = waiting_[edge.task];
      const Time at = later(end, edge.lag);
      if (waiting.position == kNone || at > span.start || (at == span.start && edge.position < waiting.position)) {
        span.start = at;
        span.released_by = ended;
        span.lag = at - end;
        waiting.position = edge.position;
      }
      if (--waiting.missing == 0) release(edge.task);
    }
  }
}

void Executor::request(TaskId task, Time now) {
  const PoolId pool = tasks_[task].pool;
  if (pool == kNone) return start(task, now);
  if (lines_[pool].free == 0) return lines_[pool].waiting.push_back(task);
  --lines_[pool].free;
  start(task, now);
}

void Executor::start(TaskId id, Time now) {
  const Task& task = tasks_[id];
  timeline_.spans[id].start = now;
  share_device(task, task.device_share, now);
  if (is_shared_kernel(task)) return agenda_.push(event_of(EventKind::end, devices_[task.device].begin(id, task.duration, now), id));
  const EventKind next = task.pattern == kNone ? EventKind::end : EventKind::transfer;
  agenda_.push(event_of(next, later(now, task.duration), id));
}

/// A task that takes a share of its device starts or ends: kernels in progress get new ends, their old end events become stale.
void Executor::share_device(const Task& task, double share, Time now) {
  if (!takes_share(task)) return;
  SharedDevice& device = devices_[task.device];
  device.take(share, now);
  for (const SharedDevice::Running& kernel : device.running()) agenda_.push(event_of(EventKind::end, kernel.end, kernel.task));
}

void Executor::begin_transfer(TaskId id, Time now) {
  const Task& task = tasks_[id];
  for (const FoldedPatterns::Flow& flow : patterns_.flows(task.pattern)) {
    const Bytes bytes{std::llround(std::min(static_cast<double>(task.traffic.count) * flow.weight, kMostBytes))};
    if (bytes.count <= 0) continue;
    FlowId flow_id = static_cast<FlowId>(task_of_flow_.size());
    if (idle_flows_.empty()) {
      task_of_flow_.push_back(id);
    } else {
      flow_id = idle_flows_.back();
      idle_flows_.pop_back();
      task_of_flow_[flow_id] = id;
    }
    ++waiting_[id].flows;
    network_.start(flow_id, patterns_.route(flow), bytes, now);
  }
  if (waiting_[id].flows == 0) finish(id, now);
}

void Executor::finish(TaskId id, Time now) {
  const Task& task = tasks_[id];
  timeline_.spans[id].end = now;
  share_device(task, -task.device_share, now);
  if (task.pool != kNone) give_back(task.pool, id, now);
  settled_.push_back(id);
  settle();
}

void Executor::give_back(PoolId pool, TaskId task, Time now) {
  Line& line = lines_[pool];
  if (line.waiting.empty()) {
    ++line.free;
    return;
  }
  const TaskId next = line.waiting.front();
  line.waiting.pop_front();
  timeline_.spans[next].released_by = task;
  timeline_.spans[next].lag = Time::zero();
  start(next, now);
}

/// A kernel's end event counts only if it is the kernel's latest.
void Executor::handle(const Event& event) {
  const TaskId id = event.payload;
  if (kind_of(event) == EventKind::ready) return request(id, event.time);
  if (kind_of(event) == EventKind::transfer) return begin_transfer(id, event.time);
  const Task& task = tasks_[id];
  if (is_shared_kernel(task)) {
    if (!devices_[task.device].ended(id, event.time)) return;
    if (task.pattern != kNone) return begin_transfer(id, event.time);
  }
  finish(id, event.time);
}

void Executor::end_flows(Time now) {
  ended_flows_.clear();
  network_.advance(now, ended_flows_);
  for (const FlowId flow : ended_flows_) {
    const TaskId task = task_of_flow_[flow];
    idle_flows_.push_back(flow);
    if (--waiting_[task].flows == 0) finish(task, now);
  }
}

Timeline Executor::run() {
  for (TaskId task = 0; task < tasks_.size(); ++task) waiting_[task].missing = static_cast<std::uint32_t>(graph_.dependencies(task).size());
  for (TaskId task = 0; task < tasks_.size(); ++task) {
    if (graph_.dependencies(task).empty()) release(task);
  }
  settle();
  while (done_ < tasks_.size()) {
    const Time flows_end = network_.next_end();
    if (agenda_.empty() && flows_end > kHorizon) throw std::logic_error("the simulation stalls: a flow has no bandwidth or takes months");
    const Time now = agenda_.empty() ? flows_end : std::min(flows_end, agenda_.top().time);
    if (flows_end == now) end_flows(now);
    while (!agenda_.empty() && agenda_.top().time == now) handle(agenda_.pop());
  }
  return std::move(timeline_);
}

}  // namespace

Timeline run(const TaskGraph& graph, Network& network, Folding folding) { return Executor(graph, network, folding).run(); }

}  // namespace foretrain
