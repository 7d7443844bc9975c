// Batches on their way from storage to the GPU, as tasks of one process.
#pragma once

#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

/// Adds one batch after the other to a process's graph: storage, workers, pin-memory thread, main thread,
/// copy. Each is a queue; a batch passes them in order, and the workers are at most prefetch x workers
/// batches ahead of the loop (docs/models/input.md).
class InputPipeline {
 public:
  explicit InputPipeline(Process& process);
  /// Batches of `workload`, which must outlive this, instead of the request's: those of several GPUs at once.
  /// `sharers`: so many GPUs get an equal part of each.
  InputPipeline(Process& process, const Workload& workload, const InputSite& site, int sharers = 1);

  /// The next batch: after it, kernels find their input on the GPU.
  void load_batch();

 private:
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
  HostThread storage_;  ///< reads from storage; none where nothing is read
  QueueId copy_stream_ = kNone;
  std::vector<TaskId> batches_taken_;
  std::size_t tasks_seen_ = 0;
  Time main_cpu_{};     ///< of the script's threads between the last two batches
  Time inline_load_{};  ///< of the main thread's loading and waiting, where there are no workers
  bool steps_begun_ = false;
};

/// Where the representative rank of a request reads its batches.
InputSite input_site(const PlanRequest& request);
/// Where a process that drives all GPUs of the job reads batches for all of them.
InputSite input_site_of_one_process(const PlanRequest& request);

/// Time between two batches from the loader workers of one rank that has the storage for itself, and of one
/// batch in one worker.
struct LoaderPace {
  Time interval{};
  Time one_batch{};
};
LoaderPace loader_pace(const Workload& workload, const NodeSpec& node);

// Why batches come as fast as they do, in words.

/// Adds what each part of the pipeline could deliver and which is the narrowest. `script_cpu`: CPU time of
/// the training script per batch.
void explain_pipeline(const Workload& workload, const InputCosts& costs, Time script_cpu,
                      Decisions& decisions);
/// Adds where the samples of later epochs come from, and how fast the first epoch reads them.
void explain_storage(const Workload& workload, const ClusterSpec& cluster, const InputSite& site,
                     Decisions& decisions);

}  // namespace foretrain
