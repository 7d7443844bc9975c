// One rank's process as the framework runs it: host threads, streams, and the primitives a step is made of.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Adds tasks of one process to a graph. Every primitive returns the task others may wait for.
///
/// A kernel starts when its stream is free, the launch latency after its host call has passed, and its events have fired; the
/// host never waits except in `synchronize` and when it is `kDriverQueue` launches ahead (docs/models/step.md).
class Process {
 public:
  Process(const PlanRequest& request, TaskGraph& graph);

  QueueId main_thread, autograd_thread, loader, pinner, compute_stream, nccl_stream;

  /// Work on a host thread, `reference` on the reference CPU.
  TaskId host(QueueId thread, Time reference, Account account);
  /// Work on a host thread of a length that is already this host's, after other tasks.
  TaskId host_for(QueueId thread, Time duration, Account account, std::span<const Dependency> after);
  TaskId host_for(QueueId thread, Time duration, Account account, std::initializer_list<Dependency> after = {}) {
    return host_for(thread, duration, account, std::span<const Dependency>(after.begin(), after.size()));
  }
  /// A host call of known length (already on this host), then its kernel of known length on the compute stream.
  TaskId launch(QueueId thread, Time host, Time kernel, Account account, LabelId label);
  /// A kernel that reads and writes `bytes`, launched by one bare call plus `reference` of bookkeeping.
  TaskId launch_copy(QueueId thread, Bytes bytes, Time reference, Account account, LabelId label);
  /// The host waits until everything on the compute stream so far has run.
  TaskId synchronize(QueueId thread);
  /// One thread goes on only after the other's last task.
  void hand_over(QueueId from, QueueId to);

  /// A collective of all ranks on the NCCL stream, after the compute stream's last kernel; the host does not wait.
  TaskId collective(QueueId thread, CollectiveOp op, Bytes size, LabelId label);
  /// The compute stream's next kernel waits for `event`.
  void stream_waits_for(TaskId event) { stream_waits_.push_back(event); }

  /// Host memory to this GPU on the compute stream.
  TaskId copy_to_device(QueueId thread, Bytes bytes, LabelId label);
  /// The same on a stream of its own, by a thread of the input pipeline as soon as `ready` has ended; kernels do not wait for it yet.
  TaskId copy_beside_compute(QueueId stream, TaskId ready, Bytes bytes, LabelId label);

  TaskId last_kernel() const { return graph_.last_on(compute_stream); }
  TaskGraph& graph() { return graph_; }
  const PlanRequest& request() const { return request_; }
  const KernelCalibration& kernels() const { return kernels_; }
  const Gpu& gpu() const { return request_.cluster.spec().node.gpu; }
  const Host& host_cpu() const { return request_.cluster.spec().node.host; }
  const HostCalibration& host_costs() const { return request_.device.host; }
  Time on_this_host(Time reference) const;
  Decisions& decisions() { return decisions_; }

 private:
  TaskId enqueue(QueueId thread, Time host, Task kernel);
  PatternId pattern_of(const CollectivePlan& plan);

  static constexpr std::size_t kDriverQueue = 1024;

  const PlanRequest& request_;
  TaskGraph& graph_;
  KernelCalibration kernels_;  ///< of the slowest rank
  Communicator communicator_;
  DeviceId device_;
  PatternId input_pattern_ = kNone;
  Time input_latency_{};
  std::vector<TaskId> stream_waits_;
  std::vector<TaskId> launched_;  ///< kernels in order, for the driver queue
  struct CachedPattern {
    CollectiveOp op;
    std::optional<nccl::Algorithm> algorithm;
    Protocol protocol;
    double stretch;
    PatternId pattern;
    bool is_like(const CachedPattern& other) const {
      return op == other.op && algorithm == other.algorithm && protocol == other.protocol && stretch == other.stretch;
    }
  };
  std::vector<CachedPattern> patterns_;
  Decisions decisions_;
};

/// Standard-deviation factor by which the slowest of `ranks` is slower than the mean (Blom's expected maximum, docs/models/stragglers.md).
double slowest_rank_factor(double spread, int ranks);

}  // namespace foretrain
