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

// A host thread of a process, and the state that its calls have.

/// The thread and the modes of a call. Every call of Process states its thread; it is a value, so that no
/// call changes what a later one means. By default calls reach the process's first GPU, hold no mutex and are
/// made once.
struct HostThread {
  QueueId queue = kNone;
  /// The GPU that cudaSetDevice chose: kernels, copies and collectives go there.
  std::size_t gpu = 0;
  /// Label of host calls that have none of their own.
  LabelId label = kNone;
  /// Pool of which each call holds one unit, such as the GIL.
  PoolId mutex = kNone;
  /// Extra time of each call on this host, because the mutex changes hands.
  Time hand_over{};
  /// Number of GPUs that do the same; a call is made for each of them.
  int turns = 1;
  /// The calls of the turns are made by threads of their own, concurrently.
  bool beside = false;

  /// The next three functions return a copy with one mode changed; `holding` adds `longer` to every call.
  HostThread on_gpu(std::size_t number) const;
  HostThread labelled(LabelId calls) const;
  HostThread holding(PoolId held, Time longer, LabelId calls) const;
  /// Returns a copy whose calls are made for each of `gpus` GPUs, one after the other, with the thread's own
  /// GPU last: the times of `host` and `launch` are multiplied by that number.
  HostThread issuing_for(int gpus) const;
  /// As above, with a thread for each GPU, so that only the driver serialises them. A launch lasts as long as
  /// the launches of all GPUs without the executor's own part (HostCalibration::bare_node), if that is longer
  /// than one call. Other host work runs concurrently.
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
  /// The stream; kNone: the NCCL stream of the thread's GPU.
  QueueId stream = kNone;
  /// Inputs of the collective; none: the last kernel of the compute stream.
  std::span<const TaskId> after = {};
  /// The group of ranks that takes part.
  Group among = Group::world;
  WireType type = WireType::unsaid;
};

/// A kernel that reads and writes `bytes` on a stream concurrent with the compute stream.
struct SideKernel {
  HostThread thread;
  QueueId stream;
  Bytes bytes;
  LabelId label;
  std::span<const TaskId> after = {};
};

/// A copy between host memory and the GPU of every rank of a node, all at the same time, as strategies that
/// offload issue it.
struct HostCopy {
  QueueId stream;
  /// Bytes of one rank.
  Bytes bytes;
  bool to_gpu = true;
  /// Page-locked memory; otherwise the driver stages the copy (kPageableSlowdown).
  bool pinned = true;
  Account account = Account::optimizer;
  LabelId label = kNone;
  std::span<const TaskId> after = {};
};

/// Adds the tasks of one process to a graph. Every primitive returns the task that later tasks may depend on.
///
/// A kernel starts when its stream is free, the launch latency after its host call has passed, and its events
/// have fired. The host never waits except in `synchronize` and when it is `kDriverQueue` launches ahead
/// (docs/models/step.md). The request and the graph must outlive the process. Not thread-safe.
class Process {
 public:
  /// Adds the main thread, the first GPU (rank 0 of the placement) and the loader's threads to the graph.
  Process(const PlanRequest& request, TaskGraph& graph);
  ~Process();

  /// Adds a further GPU that this process drives (rank `rank` of the placement), with an autograd thread and
  /// streams of its own. Returns its number, from 1.
  std::size_t add_gpu(int rank);

  /// Return the threads that issue forward and backward passes. The main thread uses the first GPU; each GPU
  /// has its own thread for backward passes.
  HostThread main_thread() const { return main_thread_; }
  HostThread autograd_thread(std::size_t gpu = 0) const { return {gpus_[gpu].autograd_thread, gpu}; }
  HostThread loader() const { return loader_; }
  HostThread pinner() const { return pinner_; }
  /// Adds a thread that uses the first GPU.
  HostThread add_thread(std::string name) { return {graph_.add_queue(std::move(name))}; }
  /// Return the streams of the first GPU.
  QueueId compute_stream() const { return gpus_.front().compute_stream; }
  QueueId nccl_stream() const { return gpus_.front().nccl_stream; }

  /// Issues work on a host thread; `reference` is its time on the reference CPU.
  TaskId host(const HostThread& thread, Time reference, Account account, LabelId label = kNone);
  /// Issues work on a host thread whose duration is already that of this host, after other tasks.
  TaskId host_for(const HostThread& thread, Time duration, Account account,
                  std::span<const Dependency> after);
  TaskId host_for(const HostThread& thread, Time duration, Account account,
                  std::initializer_list<Dependency> after = {}) {
    return host_for(thread, duration, account, std::span<const Dependency>(after.begin(), after.size()));
  }
  /// Issues a host call, then its kernel on the compute stream. Both times are final: on this host and this
  /// GPU.
  TaskId launch(const HostThread& thread, Time host, Time kernel, Account account, LabelId label);
  /// Issues a kernel that reads and writes `bytes`. Its host time is one bare call plus `reference` of
  /// bookkeeping.
  TaskId launch_copy(const HostThread& thread, Bytes bytes, Time reference, Account account, LabelId label);
  /// Issues several equal launches as one task (counted_launches()).
  TaskId launch_copies(const HostThread& thread, const OptimizerLaunch& launches, Account account,
                       LabelId label);
  /// Issues a kernel on another stream of the thread's GPU, not before `call.after`. Kernels of the compute
  /// stream do not wait for it, but share the memory's bandwidth with it while it runs
  /// (docs/models/step.md).
  TaskId launch_on_side_stream(const SideKernel& call);
  /// Issues a kernel of known length on another stream of the first GPU, not before `after`. `host` is the
  /// duration of its call on this host. The kernel shares the memory's bandwidth with the compute stream.
  TaskId launch_on(QueueId stream, const HostThread& thread, Time host, Time kernel, LabelId label,
                   std::span<const TaskId> after);
  /// Issues an NCCL send from the first GPU to another GPU of the job, in `stream`, once `after` have ended.
  /// The task ends when all bytes have arrived.
  TaskId message(const HostThread& thread, GpuPlace to, Bytes bytes, LabelId label, QueueId stream,
                 std::span<const TaskId> after);
  /// Makes the host wait until everything on the compute stream of its GPU so far has run.
  TaskId synchronize(const HostThread& thread);
  /// Makes the host wait for one event.
  TaskId synchronize(const HostThread& thread, TaskId event);
  /// Makes `to` go on only after the last task of `from`.
  void hand_over(const HostThread& from, const HostThread& to);

  /// Returns the number of the group whose sets have `size` ranks, every `stride`-th of a block of the job
  /// (RankSets). Adds the group at the first request.
  Group add_group(int size, int stride);
  /// Issues a collective of all ranks on the NCCL stream, after the compute stream's last kernel. The host
  /// does not wait.
  TaskId collective(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label,
                    WireType type = WireType::unsaid);
  TaskId collective(const CollectiveCall& call);
  /// States the pass of the step that issues the messages from here on (TrafficNote::pass).
  void enter(StepPass pass) { pass_ = pass; }
  StepPass pass() const { return pass_; }
  /// Issues a collective as one task of all GPUs of this process, in their compute streams. It starts when
  /// all of them have reached it, and their next kernels wait for it (NCCL within one process).
  TaskId collective_of_all_gpus(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label);
  /// Makes the next kernel of the first GPU's compute stream wait for `event`.
  void stream_waits_for(TaskId event) { gpus_.front().stream_waits.push_back(event); }
  /// Copies bytes from the compute stream of one GPU of this process to another, in the order of both
  /// streams.
  TaskId copy_between(const HostThread& thread, std::size_t from, std::size_t to, Bytes bytes,
                      Account account, LabelId label);
  /// Sends bytes along a route of the cluster in `stream`, once `after` have ended, without a host call.
  TaskId transfer(QueueId stream, const Route& route, Bytes bytes, Account account, LabelId label,
                  std::span<const TaskId> after);

  /// Issues the own rank's part of copies that all ranks of the node make, which share its PCIe; no host call
  /// (host_copies.cpp).
  TaskId host_copy(const HostCopy& copy);

  /// Copies from host memory to the thread's GPU on its compute stream.
  TaskId copy_to_device(const HostThread& thread, Bytes bytes, LabelId label);
  /// Copies a batch on a stream of its own, issued by a thread of the input pipeline as soon as `ready` has
  /// ended. Kernels do not wait for it; stream_waits_for() makes them.
  TaskId copy_beside_compute(QueueId stream, TaskId ready, Bytes bytes, LabelId label);

  /// Returns the last task of the first GPU's compute stream.
  TaskId last_kernel() const { return graph_.last_on(compute_stream()); }
  std::size_t gpus() const { return gpus_.size(); }
  /// Returns the node and the number of a GPU of this process.
  GpuPlace place(std::size_t gpu) const { return gpus_[gpu].place; }
  const Communicator& communicator(Group group) { return collectives(group).communicator(); }
  TaskGraph& graph() { return graph_; }
  const PlanRequest& request() const { return request_; }
  const KernelCalibration& kernels() const { return kernels_; }
  const Gpu& gpu() const { return request_.own_node().gpu; }
  const Host& host_cpu() const { return request_.own_node().host; }
  const HostCalibration& host_costs() const { return host_costs_; }
  const CallCosts& calls() const { return request_.calls; }
  /// Converts host time on the reference CPU to this host's.
  Time on_this_host(Time reference) const;
  /// Returns the costs of this process's kernels and host calls, before their time scales.
  OperatorCosts& operator_costs();
  Decisions& decisions() { return decisions_; }

 private:
  /// State of one GPU of the process.
  struct DrivenGpu {
    QueueId autograd_thread, compute_stream, nccl_stream;
    DeviceId device;
    GpuPlace place;
    PatternId input_pattern = kNone;
    Time input_latency{};
    /// Events that the next kernel of the compute stream has to wait for.
    std::vector<TaskId> stream_waits{};
    /// Kernels in the order of launches, to find the driver queue's limit.
    std::vector<TaskId> launched{};
  };
  DrivenGpu make_gpu(int rank, const std::string& suffix);
  PatternId input_of_the_node() const;
  PatternId host_copies_of_the_node(bool to_gpu, double weight);
  /// Builds a task of a host thread, with its mutex and label.
  Task host_task(const HostThread& thread, Time duration, Account account, LabelId label = kNone) const;
  Task input_copy(const DrivenGpu& gpu, QueueId stream, Bytes bytes, LabelId label) const;
  /// Adds a call and the kernel that it launches, and takes the events for which the stream waits.
  TaskId enqueue(const HostThread& thread, Time host, const Task& kernel);
  Time launch_in_turn(const HostThread& thread, Time host) const;
  GroupCollectives& collectives(Group group);
  void explain(const GroupCollective& collective);
  PatternId pattern_of(GroupCollective& collective, Group group);
  PatternId pattern_of(const Route& route, double weight = 1);

  /// Launches that the driver holds before a further call blocks.
  static constexpr std::size_t kDriverQueue = 1024;

  const PlanRequest& request_;
  TaskGraph& graph_;
  /// Host costs on a node as busy as the job makes it.
  HostCalibration host_costs_;
  /// Kernel costs of the slowest rank.
  KernelCalibration kernels_;
  /// Used if the request has no PlanReuse.
  std::unique_ptr<PlanReuse> own_reuse_;
  PlanReuse* reuse_;
  /// Groups by number; the collectives are built at the first request.
  std::vector<std::pair<RankSets, std::shared_ptr<GroupCollectives>>> groups_{
      {{Group::world}, nullptr}, {{Group::node}, nullptr}, {{Group::across}, nullptr}};
  std::set<const GroupCollective*> explained_;
  HostThread main_thread_, loader_, pinner_;
  std::vector<DrivenGpu> gpus_;
  /// Pattern of the batches of all ranks of the node, for processes with one GPU.
  PatternId node_input_pattern_ = kNone;
  /// Patterns of routes, by links and weight.
  std::map<std::pair<std::vector<LinkId>, double>, PatternId> route_patterns_;
  /// Patterns of host copies, by direction and weight.
  std::map<std::pair<bool, double>, PatternId> host_patterns_;
  /// A pattern and the properties of a collective that determine its flows per byte.
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
