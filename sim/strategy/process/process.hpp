// One rank's process as the framework runs it: host threads, streams, and the primitives a step is made of.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/strategy/process/group_collectives.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/operator_costs.hpp"

namespace foretrain {

/// A collective as a strategy issues it.
struct CollectiveCall {
  QueueId thread;  ///< whose host call it is
  CollectiveOp op;
  Bytes size;
  LabelId label;
  QueueId stream = kNone;              ///< kNone: the GPU's NCCL stream
  std::span<const TaskId> after = {};  ///< its inputs; none: the compute stream's last kernel
  Group among = Group::world;
};

/// A kernel that reads and writes `bytes` on a stream beside the compute stream.
struct SideKernel {
  QueueId thread;  ///< whose host call it is
  QueueId stream;
  Bytes bytes;
  LabelId label;
  std::span<const TaskId> after = {};
};

/// Adds tasks of one process to a graph. Every primitive returns the task others may wait for.
///
/// A kernel starts when its stream is free, the launch latency after its host call has passed, and its events
/// have fired; the host never waits except in `synchronize` and when it is `kDriverQueue` launches ahead
/// (docs/models/step.md).
class Process {
 public:
  Process(const PlanRequest& request, TaskGraph& graph);
  ~Process();

  /// Of the GPU in use: the thread that issues its forward pass, the one that issues its backward pass, and
  /// its streams.
  QueueId main_thread, autograd_thread, compute_stream, nccl_stream;
  QueueId loader, pinner;

  /// Adds a GPU that this process drives besides its first (rank `rank` of the placement), with threads and
  /// streams of its own; returns its number, from 1. Whoever has only one thread for all of them sets the
  /// members above.
  std::size_t add_gpu(int rank);
  /// What cudaSetDevice does: from here on kernels, copies and collectives are those of this GPU; 0 is the
  /// first.
  void use_gpu(std::size_t gpu);
  /// Host tasks from here on each hold one unit of `pool` (a mutex such as the GIL) and last `hand_over`
  /// longer, on the reference CPU, for it changes hands; without a label of their own they get this one.
  /// kNone ends it.
  void hold(PoolId pool, Time hand_over = {}, LabelId label = kNone) {
    held_pool_ = pool, held_label_ = label, hand_over_ = on_this_host(hand_over);
  }

  /// Calls from here on are made once for each of `gpus` GPUs that do the same, one after the other, and the
  /// GPU in use comes last: what `host` and `launch` take from the thread is that many times as long. 1 ends
  /// it.
  void issue_for(int gpus) { turns_ = gpus, beside_ = false; }
  /// The same by threads of their own for each GPU: only the driver makes them take turns. A launch lasts as
  /// long as those of all GPUs without the executor's own part (HostCalibration::bare_node) if that is
  /// longer; other host work is done side by side.
  void issue_beside(int gpus) { turns_ = gpus, beside_ = true; }

  /// Work on a host thread, `reference` on the reference CPU.
  TaskId host(QueueId thread, Time reference, Account account, LabelId label = kNone);
  /// Work on a host thread of a length that is already this host's, after other tasks.
  TaskId host_for(QueueId thread, Time duration, Account account, std::span<const Dependency> after);
  TaskId host_for(QueueId thread, Time duration, Account account,
                  std::initializer_list<Dependency> after = {}) {
    return host_for(thread, duration, account, std::span<const Dependency>(after.begin(), after.size()));
  }
  /// A host call of known length (already on this host), then its kernel of known length on the compute
  /// stream.
  TaskId launch(QueueId thread, Time host, Time kernel, Account account, LabelId label);
  /// A kernel that reads and writes `bytes`, launched by one bare call plus `reference` of bookkeeping.
  TaskId launch_copy(QueueId thread, Bytes bytes, Time reference, Account account, LabelId label);
  /// A kernel on another stream of the GPU in use, not before `call.after`; kernels of the compute stream do
  /// not wait for it, but share the memory's bandwidth with it while it runs (docs/models/losses.md).
  TaskId launch_beside(const SideKernel& call);
  /// The host waits until everything on the compute stream so far has run.
  TaskId synchronize(QueueId thread);
  /// The host waits for one event.
  TaskId synchronize(QueueId thread, TaskId event);
  /// One thread goes on only after the other's last task.
  void hand_over(QueueId from, QueueId to);

  /// A collective of all ranks on the NCCL stream, after the compute stream's last kernel; the host does not
  /// wait.
  TaskId collective(QueueId thread, CollectiveOp op, Bytes size, LabelId label);
  TaskId collective(const CollectiveCall& call);
  /// The same as one task of all GPUs of this process, in its compute streams: it starts when all of them
  /// have come there, and their next kernels wait for it (NCCL within one process).
  TaskId collective_of_all_gpus(QueueId thread, CollectiveOp op, Bytes size, LabelId label);
  /// The compute stream's next kernel waits for `event`.
  void stream_waits_for(TaskId event) { stream_waits_.push_back(event); }
  /// Bytes from the compute stream of one GPU of this process to another, in the order of both streams.
  TaskId copy_between(QueueId thread, std::size_t from, std::size_t to, Bytes bytes, Account account,
                      LabelId label);
  /// Bytes along a route of the cluster in `stream`, once `after` have ended; no host call.
  TaskId transfer(QueueId stream, const Route& route, Bytes bytes, Account account, LabelId label,
                  std::span<const TaskId> after);

  /// Host memory to the GPU in use on its compute stream.
  TaskId copy_to_device(QueueId thread, Bytes bytes, LabelId label);
  /// The same on a stream of its own, by a thread of the input pipeline as soon as `ready` has ended; kernels
  /// do not wait for it yet.
  TaskId copy_beside_compute(QueueId stream, TaskId ready, Bytes bytes, LabelId label);

  TaskId last_kernel() const { return graph_.last_on(compute_stream); }
  std::size_t gpus() const { return lanes_.size(); }
  std::size_t gpu_in_use() const { return in_use_; }
  GpuPlace place(std::size_t gpu) const { return lanes_[gpu].place; }
  const Communicator& communicator(Group group) { return collectives(group).communicator(); }
  TaskGraph& graph() { return graph_; }
  const PlanRequest& request() const { return request_; }
  const KernelCalibration& kernels() const { return kernels_; }
  const Gpu& gpu() const { return request_.cluster.spec().node.gpu; }
  const Host& host_cpu() const { return request_.cluster.spec().node.host; }
  const HostCalibration& host_costs() const { return host_costs_; }
  const CallCosts& calls() const { return request_.calls; }
  Time on_this_host(Time reference) const;
  /// Of this process's kernels and host calls, before their time scales.
  OperatorCosts& operator_costs();
  Decisions& decisions() { return decisions_; }

 private:
  /// What belongs to one GPU of the process.
  struct Lane {
    QueueId main_thread, autograd_thread, compute_stream, nccl_stream;
    DeviceId device;
    GpuPlace place;
    PatternId input_pattern = kNone;
    Time input_latency{};
    std::vector<TaskId> stream_waits{};
    std::vector<TaskId> launched{};  ///< kernels in order, for the driver queue
  };
  Lane make_lane(int rank, const std::string& suffix);
  void save_lane();
  Task host_task(QueueId thread, Time duration, Account account, LabelId label = kNone) const;
  TaskId enqueue(QueueId thread, Time host, const Task& kernel);
  Time launch_in_turn(Time host) const;
  GroupCollectives& collectives(Group group);
  void explain(const GroupCollective& collective);
  PatternId pattern_of(GroupCollective& collective, Group group);
  PatternId pattern_of(const Route& route, double weight = 1);

  static constexpr std::size_t kDriverQueue = 1024;

  const PlanRequest& request_;
  TaskGraph& graph_;
  HostCalibration host_costs_;            ///< on a node as busy as the job makes it
  KernelCalibration kernels_;             ///< of the slowest rank
  std::unique_ptr<PlanReuse> own_reuse_;  ///< where the request has none
  PlanReuse* reuse_;
  std::array<std::shared_ptr<GroupCollectives>, 3> collectives_;  ///< by group, once asked for
  std::set<const GroupCollective*> explained_;
  std::vector<Lane> lanes_;
  std::size_t in_use_ = 0;
  PoolId held_pool_ = kNone;
  LabelId held_label_ = kNone;
  Time hand_over_{};  ///< of `held_pool_`, on this host
  int turns_ = 1;     ///< of issue_for(), issue_beside()
  bool beside_ = false;
  std::map<std::pair<std::vector<LinkId>, double>, PatternId> route_patterns_;  ///< by links and weight
  // Of the GPU in use:
  DeviceId device_;
  PatternId input_pattern_ = kNone;
  Time input_latency_{};
  std::vector<TaskId> stream_waits_;
  std::vector<TaskId> launched_;
  struct CachedPattern {
    CollectiveOp op;
    std::optional<nccl::Algorithm> algorithm;
    Protocol protocol;
    double stretch;
    Group group;
    PatternId pattern;
    bool is_like(const CachedPattern& other) const {
      return op == other.op && group == other.group && algorithm == other.algorithm &&
             protocol == other.protocol && stretch == other.stretch;
    }
  };
  std::vector<CachedPattern> patterns_;
  Decisions decisions_;
};

}  // namespace foretrain
