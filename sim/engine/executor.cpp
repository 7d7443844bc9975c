// Tasks whose length cannot change once they are released (host work, kernels nobody disturbs) are timed as
// soon as their last predecessor is: a graph of fixed durations needs no event queue. Only tasks that compete
// go through the event queue: for a pool, for links, or for the GPU with a collective. Whatever is timed
// early lies in the future of the clock, so the order of events holds.
//
// The algorithm is an event-driven list scheduler. A task goes through four states: it waits for
// dependencies, it is released, it runs, it has ended. A dependency counts one waiter at a time, kept in a
// list that is threaded through the tasks, so that a graph of T tasks and D dependencies costs O(T + D)
// without any allocation for each task.
//
// Invariants. (1) The clock never goes back: events are taken in the order of their time, and a task that is
// timed early ends after the present moment. (2) A task is released exactly once, by the dependency that
// passed last; of several that pass at one moment, by the first in the order of the graph. That one is its
// cause in the timeline. (3) Tasks of one queue run in the order in which they were added. (4) Ties are
// broken by the number of the task, never by an address or by the state of the heap, so that two runs of a
// graph agree to the picosecond.
//
// A kernel that shares its device with a collective gets a new end whenever a collective starts or ends
// there. Its old end event stays in the queue and is recognised as outdated when it fires. Flows have no
// events of their own: the network says when the next one ends, and the loop compares that moment with the
// top of the queue.
#include "sim/engine/executor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/fold.hpp"
#include "sim/engine/shared_device.hpp"

namespace foretrain {

namespace {

/// Largest number of bytes of one flow, so that it still fits an integer of 64 bits.
constexpr double kMostBytes = 4e18;
/// End of a task that is not timed yet.
constexpr Time kOpen{-1};

/// Returns the error for a flow that can never end.
InputError endless_transfer() {
  return InputError("a transfer takes more than 46 days, or never ends",
                    "a link is too slow for what crosses it: check bandwidths and the sizes of messages");
}

/// The kinds of event. `end`: the task ends. `transfer`: its duration is over, its flows start. `ready`: it
/// is released and asks for its pool. At one moment events come in this order.
enum class EventKind : std::uint64_t { end, transfer, ready };

/// Packs the kind above the task id into the rank, so that ties are broken by kind and then by task.
Event event_of(EventKind kind, Time time, TaskId task) {
  return {time, (static_cast<std::uint64_t>(kind) << 40) | task, task};
}
EventKind kind_of(const Event& event) { return static_cast<EventKind>(event.rank >> 40); }

/// Runs one graph once. The event loop is run(); the states of a task follow one another through
/// try_to_start, release, request, start, (begin_transfer,) finish.
class Executor {
 public:
  Executor(const TaskGraph& graph, Network& network, FoldedPatterns patterns);
  Timeline run();

 private:
  /// The waiting state of a task. It waits for one dependency at a time and is an entry in that task's list
  /// of waiters.
  struct Waiting {
    /// Number of leading dependencies that have ended.
    std::uint32_t passed = 0;
    /// `first_waiter` heads the list of tasks that wait for this one; `next_waiter` links this task into such
    /// a list.
    TaskId first_waiter = kNone, next_waiter = kNone;
    /// Flows of the task that are still under way.
    std::uint32_t flows = 0;
  };
  /// A pool: its free units, and the tasks that wait for one, first come, first served.
  struct WaitQueue {
    std::uint32_t free = 0;
    std::deque<TaskId> waiting;
  };

  /// Returns whether the task's end depends on others: on a pool, on links or on kernels and collectives of
  /// its device.
  bool competes(const Task& task) const;
  /// Returns whether the task slows other kernels of its device: a collective, or a kernel with a share. It
  /// is not stretched itself.
  static bool takes_share(const Task& task) { return task.device != kNone && task.device_share > 0; }
  /// Returns whether the task is a kernel that others may slow down.
  bool is_shared_kernel(const Task& task) const {
    return task.kind == TaskKind::kernel && task.device != kNone && is_shared_[task.device] &&
           !takes_share(task);
  }
  void try_to_start(TaskId task);
  void release(TaskId task);
  void propagate_ends();
  bool is_next(Time moment);
  Time next_end_of_flows();
  void handle(const Event& event);
  void request(TaskId task, Time now);
  void start(TaskId task, Time now);
  void start_kernel(TaskId task, Time now);
  void begin_transfer(TaskId task, Time now);
  void finish(TaskId task, Time now);
  void give_back(PoolId pool, TaskId task, Time now);
  void share_device(const Task& task, double share, Time now);
  void end_flows(Time now);

  const TaskGraph& graph_;
  const std::vector<Task>& tasks_;
  Network& network_;
  FoldedPatterns patterns_;
  Timeline timeline_;
  std::vector<Waiting> waiting_;
  std::vector<SharedDevice> devices_;
  /// Per device: some task of the graph takes a share of it.
  std::vector<char> is_shared_;
  std::vector<WaitQueue> wait_queues_;
  EventQueue event_queue_;
  /// Tasks that have ended and whose waiters are not notified yet.
  std::vector<TaskId> newly_ended_;
  /// The task of each flow id in use.
  std::vector<TaskId> task_of_flow_;
  /// Flow ids to use again, and a buffer for the ids that ended at one moment.
  std::vector<FlowId> idle_flows_, ended_flows_;
  /// Cached value of Network::next_end(), valid while flows_changed_ is false.
  Time flows_end_{};
  bool flows_changed_ = true;
  /// Number of tasks that are timed to their end.
  std::size_t done_ = 0;
};

Executor::Executor(const TaskGraph& graph, Network& network, FoldedPatterns patterns)
    : graph_(graph),
      tasks_(graph.tasks()),
      network_(network),
      patterns_(std::move(patterns)),
      waiting_(tasks_.size()),
      devices_(graph.devices().size()),
      is_shared_(devices_.size()) {
  timeline_.spans.resize(tasks_.size(), Span{.end = kOpen});
  for (const Pool& pool : graph.pools()) wait_queues_.push_back({pool.capacity, {}});
  for (const Task& task : tasks_) {
    if (takes_share(task)) is_shared_[task.device] = true;
  }
}

bool Executor::competes(const Task& task) const {
  if (task.pool != kNone || task.pattern != kNone) return true;
  return is_shared_kernel(task) || takes_share(task);
}

/// Looks at the task's dependencies from the first one that had not ended at the last attempt. If one has not
/// ended, the task joins its waiters. Otherwise the task is released by the dependency that passed last; of
/// several, by the first. Requires that the task before it on its queue has ended.
void Executor::try_to_start(TaskId task) {
  Span& span = timeline_.spans[task];
  Waiting& waiting = waiting_[task];
  const std::span<const Dependency> needs = graph_.dependencies(task);
  for (std::uint32_t i = waiting.passed; i < needs.size(); ++i) {
    const Dependency& need = needs[i];
    const Time end = timeline_.spans[need.before].end;
    if (end == kOpen) {
      waiting.passed = i;
      waiting.next_waiter = std::exchange(waiting_[need.before].first_waiter, task);
      return;
    }
    const Time at = later(end, need.lag);
    if (i > 0 && at <= span.start) continue;
    span.start = at, span.released_by = need.before, span.lag = at - end;
  }
  release(task);
}

/// Handles a task whose dependencies have all ended; spans[task].start is the moment of release. A task that
/// competes becomes an event. The end of any other task is known at once.
void Executor::release(TaskId task) {
  Span& span = timeline_.spans[task];
  if (competes(tasks_[task])) return event_queue_.push(event_of(EventKind::ready, span.start, task));
  span.end = later(span.start, tasks_[task].duration);
  ++done_;
  newly_ended_.push_back(task);
}

/// Notifies the tasks that wait for ended tasks. These may end at once too, so the stack is worked off until
/// it is empty. The depth of the graph costs no recursion.
void Executor::propagate_ends() {
  while (!newly_ended_.empty()) {
    const TaskId ended = newly_ended_.back();
    newly_ended_.pop_back();
    TaskId waiter = waiting_[ended].first_waiter;
    while (waiter != kNone) try_to_start(std::exchange(waiter, waiting_[waiter].next_waiter));
    if (const TaskId next = graph_.next_on_queue(ended); next != kNone) try_to_start(next);
  }
}

/// Takes a unit of the task's pool and starts the task, or puts it into the pool's wait queue.
void Executor::request(TaskId task, Time now) {
  const PoolId pool = tasks_[task].pool;
  if (pool == kNone) return start(task, now);
  if (wait_queues_[pool].free == 0) return wait_queues_[pool].waiting.push_back(task);
  --wait_queues_[pool].free;
  start(task, now);
}

/// Starts a task that holds its pool unit. Its duration comes first, its traffic after that.
void Executor::start(TaskId id, Time now) {
  const Task& task = tasks_[id];
  timeline_.spans[id].start = now;
  share_device(task, task.device_share, now);
  if (is_shared_kernel(task)) return start_kernel(id, now);
  const EventKind next = task.pattern == kNone ? EventKind::end : EventKind::transfer;
  event_queue_.push(event_of(next, later(now, task.duration), id));
}

/// Starts a kernel that others may slow down. If it ends before anything else happens, it needs no event and
/// ends at once.
void Executor::start_kernel(TaskId id, Time now) {
  const Task& task = tasks_[id];
  SharedDevice& device = devices_[task.device];
  const Time end = device.end_of(task.duration, now);
  if (task.pool == kNone && task.pattern == kNone && is_next(end)) return finish(id, end);
  event_queue_.push(event_of(EventKind::end, device.begin(id, task.duration, now), id));
}

/// Returns whether nothing else is due up to and including `moment`.
bool Executor::is_next(Time moment) {
  return (event_queue_.empty() || event_queue_.top().time > moment) && next_end_of_flows() > moment;
}

/// Returns when the next flow ends; asks the network only after flows have changed.
Time Executor::next_end_of_flows() {
  if (flows_changed_) flows_end_ = network_.next_end(), flows_changed_ = false;
  return flows_end_;
}

/// Adds `share` to the device when a task that takes a share starts, or removes it when it ends (negative).
/// Kernels in progress get new end events; their old ones are outdated.
void Executor::share_device(const Task& task, double share, Time now) {
  if (!takes_share(task)) return;
  SharedDevice& device = devices_[task.device];
  device.take(share, now);
  for (const SharedDevice::Running& kernel : device.running())
    event_queue_.push(event_of(EventKind::end, kernel.end, kernel.task));
}

/// Starts the flows of the task's pattern. Flow ids are used again, so that their number is that of
/// concurrent flows. A task without bytes to send ends at once.
void Executor::begin_transfer(TaskId id, Time now) {
  const Task& task = tasks_[id];
  for (const FoldedPatterns::Flow& flow : patterns_.flows(task.pattern)) {
    const Bytes bytes{
        std::llround(std::min(static_cast<double>(task.traffic.count) * flow.weight, kMostBytes))};
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
    flows_changed_ = true;
    network_.start(flow_id, patterns_.route(flow), bytes, now);
  }
  if (waiting_[id].flows == 0) finish(id, now);
}

/// Ends the task: gives back its share of the device and its pool unit, then notifies its waiters.
void Executor::finish(TaskId id, Time now) {
  const Task& task = tasks_[id];
  timeline_.spans[id].end = now;
  share_device(task, -task.device_share, now);
  if (task.pool != kNone) give_back(task.pool, id, now);
  ++done_;
  newly_ended_.push_back(id);
  propagate_ends();
}

/// Gives the unit to the first task that waits, which starts now and was released by `task`; else frees the
/// unit.
void Executor::give_back(PoolId pool, TaskId task, Time now) {
  WaitQueue& line = wait_queues_[pool];
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

/// Handles a due event. The end event of a kernel counts only if it is the kernel's latest.
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

/// Moves the network to `now` and ends the tasks whose last flow has ended.
void Executor::end_flows(Time now) {
  ended_flows_.clear();
  flows_changed_ = true;
  network_.advance(now, ended_flows_);
  for (const FlowId flow : ended_flows_) {
    const TaskId task = task_of_flow_[flow];
    idle_flows_.push_back(flow);
    if (--waiting_[task].flows == 0) finish(task, now);
  }
}

/// The event loop. The clock moves to the earlier of the next end of a flow and the top of the event queue.
/// At one moment ends of flows come first, then events by rank; these may add further events of the same
/// moment.
Timeline Executor::run() {
  // The first task of each queue has no predecessor there; all others are started by propagate_ends().
  for (QueueId queue = 0; queue < graph_.queues().size(); ++queue) {
    if (const TaskId first = graph_.first_on(queue); first != kNone) try_to_start(first);
  }
  propagate_ends();
  while (done_ < tasks_.size()) {
    const Time flows_end = next_end_of_flows();
    // Tasks remain, but only flows that never end could release them.
    if (event_queue_.empty() && flows_end > kHorizon) throw endless_transfer();
    const Time now = event_queue_.empty() ? flows_end : std::min(flows_end, event_queue_.top().time);
    if (flows_end == now) end_flows(now);
    while (!event_queue_.empty() && event_queue_.top().time == now) handle(event_queue_.pop());
  }
  return std::move(timeline_);
}

}  // namespace

Timeline run(const TaskGraph& graph, Network& network, Folding folding) {
  return Executor(graph, network, FoldedPatterns(graph, network.capacities(), folding)).run();
}

Timeline run(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of) {
  FoldedPatterns patterns(graph, capacity_of);
  const std::unique_ptr<Network> network = make_max_min_network(patterns.capacities());
  return Executor(graph, *network, std::move(patterns)).run();
}

}  // namespace foretrain
