// The process group behind DistributedDataParallel: collectives over NCCL in a stream of the GPU, or over
// gloo by threads of the host.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/collective/transport_run.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// torch.distributed's ProcessGroupNCCL and ProcessGroupGloo, as far as DDP uses them (docs/models/ddp.md).
///
/// gloo: two worker threads take operations in the order in which they were asked for, each runs one to its
/// end, and the operations in progress share the links. What lies on a GPU is copied to host memory before,
/// and back after. Nothing is known of NCCL there.
class ProcessGroup {
 public:
  ProcessGroup(Process& process, Backend backend);

  /// Begins a collective of all ranks after the compute stream's last kernel; the thread does not wait. To be
  /// ended by wait().
  TaskId start(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label,
               WireType type = WireType::unsaid);
  /// work.wait(): the compute stream waits; over gloo the thread itself as well.
  void wait(const HostThread& thread, TaskId work);

  bool is_gloo() const { return backend_ == Backend::gloo; }

  /// Torch/csrc/distributed/c10d/ProcessGroupGloo.cpp: Options::threads.
  static constexpr int kGlooThreads = 2;

 private:
  /// An operation of gloo in progress.
  struct Operation {
    std::size_t slot = 0;
    TaskId reduced = kNone;  ///< when its worker thread is done
  };
  TaskId start_gloo(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label, WireType type);
  std::size_t take_slot();
  const Task& gloo_task(CollectiveOp op, Bytes size);
  PatternId pattern_of(const TransportTraffic& traffic);

  Process& process_;
  Backend backend_;
  Transport transport_;
  std::optional<TransportRequest> job_;  ///< over gloo
  PoolId workers_ = kNone;
  QueueId to_host_ = kNone, to_gpu_ = kNone;  ///< copies of staged data
  Route out_, in_;                            ///< from GPU to host memory, and back
  bool stages_ = false;                       ///< the data is on a GPU
  std::vector<QueueId> slots_;                ///< one per operation in progress
  std::vector<std::size_t> free_slots_;
  std::map<TaskId, Operation> operations_;
  std::map<AlgorithmFamily, PatternId> patterns_;                     ///< by algorithm
  std::map<std::pair<CollectiveOp, std::int64_t>, Task> gloo_tasks_;  ///< by what they move
};

}  // namespace foretrain
