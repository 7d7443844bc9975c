// One rank's process as the framework runs it: host threads, streams, and the primitives a step is made of.
//
// The model of a process follows CUDA's execution model. A host call takes time on its thread; the kernel
// that it launches starts when three conditions hold: the stream is free, the launch latency has passed since
// the call, and the events that the stream waits for have fired. The host runs ahead of the GPU until the
// driver's queue of launches is full. A step is therefore host-bound or GPU-bound by itself, without a rule
// that decides it.
//
// A process that drives several GPUs takes its turns on them with one thread (`turns`), or with a thread for
// each GPU. A lock such as the GIL is a pool of one unit that every call holds. Collectives of all ranks are
// one task on the NCCL stream of the simulated rank, with the flows of all ranks as its pattern; the other
// ranks are assumed to arrive at the same time, and losses.hpp adds what the slowest of them costs.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/engine/task_graph.hpp"
#include "sim/strategy/process/group_collectives.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/operator_costs.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

// A host thread of a process, and what holds for the calls that are made on it.

/// Every call of Process says on which thread it is made; a value, so that no call changes what a later one
/// means. Plain: calls reach the process's first GPU, hold no mutex and are made once.
struct HostThread {
  QueueId queue = kNone;
  std::size_t gpu = 0;    ///< what cudaSetDevice chose: whose kernels, copies and collectives calls launch
  LabelId label = kNone;  ///< of host calls that have none of their own
  PoolId mutex = kNone;   ///< of which each call holds one unit, such as the GIL
  Time hand_over{};       ///< on this host: so much longer is each call, for the mutex changes hands
  int turns = 1;          ///< GPUs that do the same, for each of which a call is made
  bool beside = false;    ///< by threads of their own

  HostThread on_gpu(std::size_t number) const;
  HostThread labelled(LabelId calls) const;
  HostThread holding(PoolId held, Time longer, LabelId calls) const;
  /// Calls are made for each of `gpus` GPUs, one after the other, and the thread's own GPU comes last: what
  /// `host` and `launch` take is that many times as long.
  HostThread issuing_for(int gpus) const;
  /// The same by threads of their own for each GPU: only the driver makes them take turns. A launch lasts as
  /// long as those of all GPUs without the executor's own part (HostCalibration::bare_node) if that is
  /// longer; other host work is done side by side.
  HostThread issuing_concurrently(int gpus) const;
};

inline HostThread HostThread::on_gpu(std::size_t number) const {
  HostThread other = *this;
  other.gpu = number;
  return other;
}

inline HostThread HostThread::labelled(LabelId calls) const {
  HostThread other = *this;
  other.label = calls;
  return other;
}

inline HostThread HostThread::holding(PoolId held, Time longer, LabelId calls) const {
  HostThread other = labelled(calls);
  other.mutex = held, other.hand_over = longer;
  return other;
}

inline HostThread HostThread::issuing_for(int gpus) const {
  HostThread other = *this;
  other.turns = gpus, other.beside = false;
  return other;
}

inline HostThread HostThread::issuing_concurrently(int gpus) const {
  HostThread other = *this;
  other.turns = gpus, other.beside = true;
  return other;
}

/// A collective as a strategy issues it.
struct CollectiveCall {
  HostThread thread;
  CollectiveOp op;
  Bytes size;
  LabelId label;
  QueueId stream = kNone;              ///< kNone: the NCCL stream of the thread's GPU
  std::span<const TaskId> after = {};  ///< its inputs; none: the compute stream's last kernel
  Group among = Group::world;
  WireType type = WireType::unsaid;
};

/// A kernel that reads and writes `bytes` on a stream beside the compute stream.
struct SideKernel {
  HostThread thread;
  QueueId stream;
  Bytes bytes;
  LabelId label;
  std::span<const TaskId> after = {};
};

/// Bytes between host memory and the GPU of every rank of a node, all at the same time, as a strategy that
/// offloads copies them.
struct HostCopy {
  QueueId stream;
  Bytes bytes;  ///< of one rank
  bool to_gpu = true;
  bool pinned = true;  ///< else the driver stages it (kPageableSlowdown)
  Account account = Account::optimizer;
  LabelId label = kNone;
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

  /// Adds a GPU that this process drives besides its first (rank `rank` of the placement), with an autograd
  /// thread and streams of its own; returns its number, from 1.
  std::size_t add_gpu(int rank);

  /// The threads that issue forward and backward passes, on the first GPU; of backward passes each GPU has
  /// one.
  HostThread main_thread() const { return main_thread_; }
  HostThread autograd_thread(std::size_t gpu = 0) const { return {gpus_[gpu].autograd_thread, gpu}; }
  HostThread loader() const { return loader_; }
  HostThread pinner() const { return pinner_; }
  /// A further thread, which uses the first GPU.
  HostThread add_thread(std::string name) { return {graph_.add_queue(std::move(name))}; }
  /// Of the first GPU.
  QueueId compute_stream() const { return gpus_.front().compute_stream; }
  QueueId nccl_stream() const { return gpus_.front().nccl_stream; }

  /// Work on a host thread, `reference` on the reference CPU.
  TaskId host(const HostThread& thread, Time reference, Account account, LabelId label = kNone);
  /// Work on a host thread of a length that is already this host's, after other tasks.
  TaskId host_for(const HostThread& thread, Time duration, Account account,
                  std::span<const Dependency> after);
  TaskId host_for(const HostThread& thread, Time duration, Account account,
                  std::initializer_list<Dependency> after = {}) {
    return host_for(thread, duration, account, std::span<const Dependency>(after.begin(), after.size()));
  }
  /// A host call of known length (already on this host), then its kernel of known length on the compute
  /// stream.
  TaskId launch(const HostThread& thread, Time host, Time kernel, Account account, LabelId label);
  /// A kernel that reads and writes `bytes`, launched by one bare call plus `reference` of bookkeeping.
  TaskId launch_copy(const HostThread& thread, Bytes bytes, Time reference, Account account, LabelId label);
  /// Several of them, alike, as one task (counted_launches()).
  TaskId launch_copies(const HostThread& thread, const OptimizerLaunch& launches, Account account,
                       LabelId label);
  /// A kernel on another stream of the thread's GPU, not before `call.after`; kernels of the compute stream
  /// do not wait for it, but share the memory's bandwidth with it while it runs (docs/models/losses.md).
  TaskId launch_on_side_stream(const SideKernel& call);
  /// A kernel of known length on another stream of the first GPU, by a host call of known length (already on
  /// this host), not before `after`; it shares the memory's bandwidth with the compute stream.
  TaskId launch_on(QueueId stream, const HostThread& thread, Time host, Time kernel, LabelId label,
                   std::span<const TaskId> after);
  /// A send of the first GPU to another of the job by NCCL, in `stream`, once `after` have ended; it ends
  /// when all has arrived.
  TaskId message(const HostThread& thread, GpuPlace to, Bytes bytes, LabelId label, QueueId stream,
                 std::span<const TaskId> after);
  /// The host waits until everything on the compute stream of its GPU so far has run.
  TaskId synchronize(const HostThread& thread);
  /// The host waits for one event.
  TaskId synchronize(const HostThread& thread, TaskId event);
  /// One thread goes on only after the other's last task.
  void hand_over(const HostThread& from, const HostThread& to);

  /// A group of `size` ranks each, every `stride`-th of a block of the job (RankSets); the same number where
  /// there is one already.
  Group add_group(int size, int stride);
  /// A collective of all ranks on the NCCL stream, after the compute stream's last kernel; the host does not
  /// wait.
  TaskId collective(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label,
                    WireType type = WireType::unsaid);
  TaskId collective(const CollectiveCall& call);
  /// What follows is issued by this pass of the step (TrafficNote::pass).
  void enter(StepPass pass) { pass_ = pass; }
  StepPass pass() const { return pass_; }
  /// The same as one task of all GPUs of this process, in its compute streams: it starts when all of them
  /// have come there, and their next kernels wait for it (NCCL within one process).
  TaskId collective_of_all_gpus(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label);
  /// The next kernel of the first GPU's compute stream waits for `event`.
  void stream_waits_for(TaskId event) { gpus_.front().stream_waits.push_back(event); }
  /// Bytes from the compute stream of one GPU of this process to another, in the order of both streams.
  TaskId copy_between(const HostThread& thread, std::size_t from, std::size_t to, Bytes bytes,
                      Account account, LabelId label);
  /// Bytes along a route of the cluster in `stream`, once `after` have ended; no host call.
  TaskId transfer(QueueId stream, const Route& route, Bytes bytes, Account account, LabelId label,
                  std::span<const TaskId> after);

  /// The own rank's part of copies of all ranks of the node, which share its PCIe; no host call
  /// (host_copies.cpp).
  TaskId host_copy(const HostCopy& copy);

  /// Host memory to the thread's GPU on its compute stream.
  TaskId copy_to_device(const HostThread& thread, Bytes bytes, LabelId label);
  /// The same on a stream of its own, by a thread of the input pipeline as soon as `ready` has ended; kernels
  /// do not wait for it yet.
  TaskId copy_beside_compute(QueueId stream, TaskId ready, Bytes bytes, LabelId label);

  /// Of the first GPU's compute stream.
  TaskId last_kernel() const { return graph_.last_on(compute_stream()); }
  std::size_t gpus() const { return gpus_.size(); }
  GpuPlace place(std::size_t gpu) const { return gpus_[gpu].place; }
  const Communicator& communicator(Group group) { return collectives(group).communicator(); }
  TaskGraph& graph() { return graph_; }
  const PlanRequest& request() const { return request_; }
  const KernelCalibration& kernels() const { return kernels_; }
  const Gpu& gpu() const { return request_.own_node().gpu; }
  const Host& host_cpu() const { return request_.own_node().host; }
  const HostCalibration& host_costs() const { return host_costs_; }
  const CallCosts& calls() const { return request_.calls; }
  Time on_this_host(Time reference) const;
  /// Of this process's kernels and host calls, before their time scales.
  OperatorCosts& operator_costs();
  Decisions& decisions() { return decisions_; }

 private:
  /// What belongs to one GPU of the process.
  struct DrivenGpu {
    QueueId autograd_thread, compute_stream, nccl_stream;
    DeviceId device;
    GpuPlace place;
    PatternId input_pattern = kNone;
    Time input_latency{};
    std::vector<TaskId> stream_waits{};
    std::vector<TaskId> launched{};  ///< kernels in order, for the driver queue
  };
  DrivenGpu make_gpu(int rank, const std::string& suffix);
  PatternId input_of_the_node() const;
  PatternId host_copies_of_the_node(bool to_gpu, double weight);
  Task host_task(const HostThread& thread, Time duration, Account account, LabelId label = kNone) const;
  Task input_copy(const DrivenGpu& gpu, QueueId stream, Bytes bytes, LabelId label) const;
  TaskId enqueue(const HostThread& thread, Time host, const Task& kernel);
  Time launch_in_turn(const HostThread& thread, Time host) const;
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
  /// By number of the group; the collectives once asked for.
  std::vector<std::pair<RankSets, std::shared_ptr<GroupCollectives>>> groups_{
      {{Group::world}, nullptr}, {{Group::node}, nullptr}, {{Group::across}, nullptr}};
  std::set<const GroupCollective*> explained_;
  HostThread main_thread_, loader_, pinner_;
  std::vector<DrivenGpu> gpus_;
  PatternId node_input_pattern_ = kNone;  ///< batches of all ranks of the node, where a process has one GPU
  std::map<std::pair<std::vector<LinkId>, double>, PatternId> route_patterns_;  ///< by links and weight
  std::map<std::pair<bool, double>, PatternId> host_patterns_;                  ///< by direction and weight
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
  StepPass pass_ = StepPass::forward;
  Decisions decisions_;
};

}  // namespace foretrain
