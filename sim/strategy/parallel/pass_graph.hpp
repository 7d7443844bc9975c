// Tasks of one GPU and its host during passes through layers: calls, kernels, exchanges on streams of their
// own.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/task_graph.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

/// What a task of these graphs is charged to.
enum class PassCharge : std::uint8_t { compute, host, tensor, context, expert, data };

/// Streams of exchanges: one for each group, as process groups have them.
/// and one each way for copies between the GPU's memory and the host's.
enum class PassStream : std::uint8_t {
  tensor,
  context,
  expert,
  expert_tensor,
  gather,
  scatter,
  to_host,
  to_gpu
};

/// Calls and what they launch, in the order in which the host makes them. A kernel starts when the kernel
/// before it has ended, its call was made a launch latency ago, and exchanges that it waits for are done.
class PassGraph {
 public:
  explicit PassGraph(Time launch_latency);
  /// Room for so many tasks.
  void reserve(std::size_t tasks);

  /// The host's next call.
  void call(Time duration);
  /// What that call launches on the compute stream. `waits_for`: an exchange, or kNone.
  TaskId kernel(Time duration, TaskId waits_for = kNone);
  struct Exchange {
    PassStream stream;
    PassCharge charge;
    Time duration;
    double gpu_share = 0;  ///< taken from kernels beside it
  };
  /// An exchange of what the compute stream's last kernel made; the next kernel waits for it.
  TaskId exchange(const Exchange& exchange);
  /// The same, but only who names it waits.
  TaskId exchange_behind(const Exchange& exchange);
  /// One that needs nothing of the compute stream, and only who names it waits.
  TaskId prefetch(const Exchange& exchange);
  /// By a copy engine, behind a kernel (kNone: at once); only who names it waits.
  TaskId copy(PassStream stream, Time duration, TaskId after);
  /// The last kernel so far, or kNone.
  TaskId last() const { return last_; }
  /// The host's next call comes after the end of `task`.
  void host_waits_for(TaskId task) { host_waits_ = task; }
  /// The next kernel does.
  void kernel_waits_for(TaskId task) { waits_.push_back({task, {}}); }
  /// A moment on the compute stream: a kernel of no length.
  TaskId mark();

  const TaskGraph& graph() const { return graph_; }
  QueueId compute() const { return compute_; }

 private:
  TaskId add_exchange(const Exchange& exchange, std::vector<Dependency> after);
  Dependency called() const { return {called_, latency_}; }

  TaskGraph graph_;
  Time latency_;
  QueueId host_, compute_;
  std::vector<QueueId> streams_;
  DeviceId device_;
  TaskId called_ = kNone, last_ = kNone, host_waits_ = kNone;
  std::vector<Dependency> waits_;
};

}  // namespace foretrain
