// The path of batches from storage to the GPU, as tasks of one process.
#pragma once

#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

/// Adds one batch after the other to a process's graph: storage, workers, pin-memory thread, main thread,
/// copy. Each part is a queue, and a batch passes the queues in order. Workers are at most prefetch x workers
/// batches ahead of the loop (docs/models/host.md).
class InputPipeline {
 public:
  explicit InputPipeline(Process& process);
  /// Takes batches of `workload`, which must outlive this object, instead of the request's. `sharers`: the
  /// number of GPUs that get an equal part of each batch.
  InputPipeline(Process& process, const Workload& workload, const InputSite& site, int sharers = 1);

  /// Issues the tasks of the next batch. Kernels that are launched later find their input on the GPU.
  void load_batch();

 private:
  /// Issues the work of storage, workers and pin-memory thread for one batch. Returns the task after which it
  /// is ready.
  TaskId make_batch();
  void load_in_main_thread();
  void take_and_copy(TaskId ready);
  void copy_beside_compute(TaskId ready);
  void decode_on_gpu();
  Time scaled(Time time) const;
  void take(TaskId ready);
  Time cores_interval();
  std::vector<Dependency> turns_on_cores();
  void explain() const;

  Process& process_;
  const Workload& workload_;
  InputCosts costs_;
  LabelId input_label_;
  /// The queue that reads from storage; none where nothing is read.
  HostThread storage_;
  QueueId copy_stream_ = kNone;
  /// Tasks at whose end the loop has taken a batch, in order; they limit how far workers run ahead.
  std::vector<TaskId> batches_taken_;
  /// Number of graph tasks whose host time `main_cpu_` has counted already.
  std::size_t tasks_seen_ = 0;
  /// CPU time of the script's threads between the last two batches.
  Time main_cpu_{};
  /// Time for which the main thread loads and waits, if there are no workers.
  Time inline_load_{};
  /// Set by the first batch: from then on host tasks belong to the step before.
  bool steps_begun_ = false;
};

/// Returns the place from which the representative rank of a request reads its batches.
InputSite input_site(const PlanRequest& request);
/// Returns the place from which a process that drives all GPUs of the job reads batches for all of them.
InputSite input_site_of_one_process(const PlanRequest& request);

/// Pace of the loader of one rank that has the storage for itself: the time between two batches from all
/// workers, and the time of one batch in one worker.
struct LoaderPace {
  Time interval{};
  Time one_batch{};
};
/// Returns the pace of the loader on a node. Scales and other ranks are not considered.
LoaderPace loader_pace(const Workload& workload, const NodeSpec& node);

// Explanations of the input rate in words.

/// Adds a decision on the rates of all parts of the pipeline and on the narrowest part. `script_cpu`: CPU
/// time of the training script per batch.
void explain_pipeline(const Workload& workload, const InputCosts& costs, Time script_cpu,
                      Decisions& decisions);
/// Adds a decision on where the samples of later epochs come from, and how fast the first epoch reads them.
void explain_storage(const Workload& workload, const ClusterSpec& cluster, const InputSite& site,
                     Decisions& decisions);

}  // namespace foretrain
