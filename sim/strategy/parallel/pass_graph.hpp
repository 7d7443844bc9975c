// Tasks of one GPU and its host during passes through layers: calls, kernels, and exchanges on streams of
// their own.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/task_graph.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

/// The account of a task of these graphs.
enum class PassCharge : std::uint8_t { compute, host, tensor, context, expert, data };

/// Streams of exchanges, one for each group, as process groups have them; then one for each direction of
/// copies between GPU memory and host memory.
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

/// Calls and the work that they launch, in the order of the host. A kernel starts when the kernel before it
/// has ended, its call was made a launch latency ago, and the exchanges that it waits for are done.
class PassGraph {
 public:
  explicit PassGraph(Time launch_latency);
  /// Reserves memory for `tasks` tasks.
  void reserve(std::size_t tasks);

  /// Adds the host's next call.
  void call(Time duration);
  /// Adds the kernel that this call launches on the compute stream. `waits_for`: an exchange, or kNone.
  TaskId kernel(Time duration, TaskId waits_for = kNone);
  /// An exchange of known duration on the stream of its group.
  struct Exchange {
    PassStream stream;
    PassCharge charge;
    Time duration;
    /// Fraction of the GPU taken from concurrent kernels.
    double gpu_share = 0;
  };
  /// Adds an exchange of the result of the compute stream's last kernel. The next kernel waits for it.
  TaskId exchange(const Exchange& exchange);
  /// As above, but only tasks that name it wait for it.
  TaskId exchange_behind(const Exchange& exchange);
  /// Adds an exchange that needs no kernel's result. Only tasks that name it wait for it.
  TaskId prefetch(const Exchange& exchange);
  /// Adds a copy by a copy engine, after a kernel (kNone: at once). Only tasks that name it wait for it.
  TaskId copy(PassStream stream, Time duration, TaskId after);
  /// Returns the last kernel so far, or kNone.
  TaskId last() const { return last_; }
  /// Makes the host's next call wait for the end of `task`.
  void host_waits_for(TaskId task) { host_waits_ = task; }
  /// Makes the next kernel wait for the end of `task`.
  void kernel_waits_for(TaskId task) { waits_.push_back({task, {}}); }
  /// Adds a kernel of zero length and returns it: a moment on the compute stream.
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
  /// The last call and kernel, and what the host's next call has to wait for.
  TaskId called_ = kNone, last_ = kNone, host_waits_ = kNone;
  /// Dependencies of the next kernel.
  std::vector<Dependency> waits_;
};

}  // namespace foretrain
