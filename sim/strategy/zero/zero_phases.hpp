// What ZeRO adds to a step: parameters fetched before they are used, gradients reduced to their owners, the
// update of a share.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/strategy/process/process.hpp"
#include "sim/strategy/zero/zero.hpp"
#include "sim/workload/device/host_update.hpp"

namespace foretrain {

/// Layers in the order in which forward and then backward come to them, as the first iteration records it.
/// Layers stand for modules.
std::vector<std::uint32_t> fetch_trace(const ExpandedModel& model);

/// deepspeed/runtime/zero/partitioned_param_coordinator.py. Parameters of up to param_persistence_threshold
/// elements are never sharded.
class ZeroFetch {
 public:
  ZeroFetch(Process& process, const ZeroSettings& settings);

  /// A forward and backward pass begins: what is gathered from here on waits for what the compute stream has
  /// done so far. The network as a whole is a module, too, at which parameters are gathered ahead.
  void begin_iteration();
  /// The pass comes to a layer: releases the one before, gathers what is missing, waits for it, gathers
  /// ahead.
  void enter(const HostThread& thread, std::uint32_t layer);
  /// The pass has left its last layer.
  void leave(const HostThread& thread);

  /// Elements that are whole all the time, of all parameters; and of others the most at any time.
  std::int64_t persistent() const { return persistent_; }
  /// Of each of those parameters.
  const std::vector<std::int64_t>& persistent_sizes() const { return persistent_sizes_; }
  std::int64_t most_live() const { return most_live_; }

 private:
  void measure_trace();
  void release(const HostThread& thread, std::uint32_t layer);
  bool is_reused(std::uint32_t layer) const;
  void gather(const HostThread& thread, const std::vector<std::uint32_t>& layers);
  TaskId shards_from_host(const HostThread& thread, Bytes shard, std::int64_t parameters);
  void wait_for(const HostThread& thread, std::uint32_t layer);
  void prefetch(const HostThread& thread);

  Process& process_;
  ZeroSettings settings_;
  const ZeroOptions& options_;
  std::vector<std::uint32_t> trace_;
  std::vector<std::size_t> next_visit_;        ///< per place in the trace: the next one of the same layer
  std::vector<std::int64_t> elements_before_;  ///< per place in the trace: sum of those before
  std::vector<std::int64_t> elements_;         ///< per layer, without persistent ones
  std::vector<std::int64_t> parameters_;       ///< per layer: how many of them
  QueueId stream_;                             ///< allgather_stream
  HostThread drive_;                           ///< reads of NVMe, one behind the other
  LabelId gather_label_, copy_label_, host_label_;
  std::vector<std::int64_t> persistent_sizes_;
  std::int64_t persistent_ = 0, live_ = 0, most_live_ = 0;
  std::size_t step_ = 0;           ///< place in the trace
  std::size_t queue_ = 0;          ///< first place that no prefetch has looked at
  std::uint32_t current_ = kNone;  ///< layer
  std::vector<TaskId> gathered_;   ///< per layer: the task after which it is whole, kNone while sharded
  std::vector<bool> waited_;       ///< per layer: the compute stream waits for it already
  /// Per layer: one more than the last place of the trace it was gathered for.
  std::vector<std::size_t> wanted_;
  std::vector<std::size_t> asked_by_;  ///< per layer: the last prefetch that asked for it
  std::size_t prefetches_ = 0;
  TaskId iteration_start_ = kNone;
  std::deque<TaskId> fetches_;  ///< waited for, oldest first
};

// How DeepSpeed sums gradients: copied into one large buffer, reduced when it is full or backward has ended.

/// Elements of one message where no knob says it (deepspeed/runtime/engine.py, MEMORY_OPT_ALLREDUCE_SIZE).
inline constexpr std::int64_t kZeroMessage = 500'000'000;

/// Gradients of ZeRO stages 1 to 3 on their way into the shards: buckets fill in the order of backward, and a
/// full bucket is reduced on a stream of its own while backward goes on.
class ZeroReduction {
 public:
  ZeroReduction(Process& process, const ZeroSettings& settings);

  /// Which micro-step of an optimizer step comes now.
  void begin_micro_step(bool is_first, bool is_last) { is_first_ = is_first, is_last_ = is_last; }
  /// A gradient is there: into the bucket; one that does not fit any more is reduced first.
  void on_gradient(const HostThread& thread, std::uint32_t parameter);
  /// Backward has ended: reduces what is left, then the compute stream goes on. `accumulating`: the sums are
  /// added to earlier ones.
  void finish(const HostThread& thread, bool accumulating);
  /// The own sums have arrived in host memory (offload); kNone when they stay.
  TaskId offloaded() const { return offloaded_; }
  /// Launched so far.
  const std::vector<Bytes>& messages() const { return messages_; }

 private:
  /// Of a bucket, what the partition of one rank has.
  struct Slice {
    std::int64_t rank = 0, elements = 0;
  };
  std::vector<Slice> slices() const;
  std::vector<std::pair<CollectiveOp, std::int64_t>> exchanges() const;
  TaskId kernel(const HostThread& thread, std::int64_t bytes, Time reference, LabelId label);
  void exchange(const HostThread& thread, CollectiveOp op, std::int64_t elements);
  void reduce_bucket(const HostThread& thread);
  void reduce_to_slices(const HostThread& thread, std::int64_t elements);
  void scatter(const HostThread& thread, std::int64_t elements);
  void offload(const HostThread& thread, std::int64_t elements);
  void all_reduce_everything(const HostThread& thread);

  Process& process_;
  const ExpandedModel& model_;
  ZeroSettings settings_;
  std::int64_t bucket_;  ///< elements, ZeroOptions::reduce_bucket_size
  QueueId stream_;       ///< reduction_stream, reduce_and_partition_stream
  LabelId copy_label_, reduce_label_, pack_label_, own_label_, offload_label_;
  std::vector<std::int64_t> begins_;  ///< per parameter: its place when all are laid end to end
  std::int64_t filled_ = 0;           ///< elements in the bucket
  std::vector<std::uint32_t> in_bucket_;
  TaskId pending_ = kNone;      ///< what the next kernel of `stream_` waits for
  TaskId last_beside_ = kNone;  ///< end of the reduction stream
  TaskId offloaded_ = kNone;
  bool is_first_ = true, is_last_ = true;
  std::deque<TaskId> reductions_;  ///< stage 3: at most two of them run ahead of the host
  std::vector<Bytes> messages_;
};

// DeepSpeed's step(): overflow, norm, the optimizer on the own partition in fp32, then weights for everybody.

/// DeepSpeedCPUAdam of every rank of a node, with the passes before and behind it. All cores of the node are
/// every rank's unless it is told otherwise.
HostUpdateTime zero_host_update(const PlanRequest& request, const ZeroSettings& settings);

/// The optimizer step of ZeRO on the shard of one rank: overflow check, gradient norm, update, and the
/// gathering of updated parameters.
class ZeroUpdate {
 public:
  /// `persistent`: of stage 3, the sizes of the parameters that are gathered here one by one; all others are
  /// gathered by the next forward pass. Other stages gather everything here.
  ZeroUpdate(Process& process, const ZeroSettings& settings, std::vector<std::int64_t> persistent);

  /// `gradients`: when they have arrived in host memory (offload). Returns the last kernel.
  TaskId apply(TaskId gradients);

 private:
  void check_overflow();
  void norm();
  void sum(Bytes size, LabelId label, WireType type);
  TaskId update_on_gpu();
  TaskId update_on_host(TaskId gradients);
  TaskId weights_to_gpu(TaskId updated);
  TaskId weights_to_host();
  std::vector<std::int64_t> gathers() const;
  void gather_weights();
  TaskId kernel(std::int64_t bytes, LabelId label);

  Process& process_;
  const Workload& workload_;
  ZeroSettings settings_;
  std::int64_t own_;                      ///< elements of the partition
  std::vector<std::int64_t> persistent_;  ///< stage 3: sizes of weights to be gathered
  std::vector<std::int64_t> mine_;        ///< sizes of the gradients, or parts of them, in the partition
  LabelId check_label_, norm_label_, optimizer_label_, weights_label_, gather_label_, host_label_,
      drive_label_;
};

/// Sizes of the parameters, or parts of them, in the partition that has most of them: all laid end to end and
/// cut in equal pieces (stages 1 and 2), or every one cut in equal pieces (stage 3).
std::vector<std::int64_t> partition_tensors(const ExpandedModel& model, const ZeroSettings& settings);

}  // namespace foretrain
