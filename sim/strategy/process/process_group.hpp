// The process group of DistributedDataParallel: collectives over NCCL in a stream of the GPU, or over gloo by
// threads of the host.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/collective/transport_run.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// Models torch.distributed's ProcessGroupNCCL and ProcessGroupGloo, as far as DDP uses them
/// (docs/models/replicated.md).
///
/// In gloo two worker threads take operations in the order of their requests. Each thread runs one operation
/// to its end, and the operations in progress share the links. Data on a GPU is copied to host memory before
/// the operation and back after it. Such operations use no NCCL plan.
class ProcessGroup {
 public:
  ProcessGroup(Process& process, Backend backend);

  /// Begins a collective of all ranks after the compute stream's last kernel. The thread does not wait. Every
  /// operation has to be ended by wait().
  TaskId start(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label,
               WireType type = WireType::unsaid);
  /// Issues work.wait(): the compute stream waits for the operation; with gloo the thread waits as well.
  void wait(const HostThread& thread, TaskId work);

  bool is_gloo() const { return backend_ == Backend::gloo; }

  /// Number of worker threads of gloo: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp, Options::threads.
  static constexpr int kGlooThreads = 2;

 private:
  /// An operation of gloo in progress.
  struct Operation {
    std::size_t slot = 0;
    /// The task that ends when the worker thread is done.
    TaskId reduced = kNone;
  };
  TaskId start_gloo(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label, WireType type);
  /// Returns the number of a queue that no operation in progress uses; adds one if there is none.
  std::size_t take_slot();
  /// Returns the task of an operation, without label and queue. It is cached by operation and size.
  const Task& gloo_task(CollectiveOp op, Bytes size);
  PatternId pattern_of(const TransportTraffic& traffic);

  Process& process_;
  Backend backend_;
  Transport transport_;
  /// The transport's plan of messages; only with gloo.
  std::optional<TransportRequest> job_;
  PoolId workers_ = kNone;
  /// Queues of the copies of staged data.
  QueueId to_host_ = kNone, to_gpu_ = kNone;
  /// Routes from the GPU to host memory and back.
  Route out_, in_;
  /// Data is on a GPU and has to be staged.
  bool stages_ = false;
  /// Queues, one for each operation in progress.
  std::vector<QueueId> slots_;
  std::vector<std::size_t> free_slots_;
  /// Operations of gloo that wait() has not ended, by the task that start() returned.
  std::map<TaskId, Operation> operations_;
  /// Patterns by algorithm.
  std::map<AlgorithmFamily, PatternId> patterns_;
  /// Tasks by operation and bytes.
  std::map<std::pair<CollectiveOp, std::int64_t>, Task> gloo_tasks_;
};

}  // namespace foretrain
