// The three phases that ZeRO adds to a step: parameters are fetched before they are used, gradients are
// reduced to their owners, and a share is updated.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/strategy/process/process.hpp"
#include "sim/strategy/zero/zero.hpp"
#include "sim/workload/device/host_update.hpp"

namespace foretrain {

/// Returns the layers in the order in which forward and then backward come to them, as the first iteration
/// records it. Layers stand for modules.
std::vector<std::uint32_t> fetch_trace(const ExpandedModel& model);

/// Gathers parameters along the trace, as deepspeed/runtime/zero/partitioned_param_coordinator.py does.
/// Parameters of up to param_persistence_threshold elements are never sharded.
///
/// Calls of one iteration: begin_iteration, enter for every visit of a layer, leave at the end of each pass.
class ZeroFetch {
 public:
  ZeroFetch(Process& process, const ZeroSettings& settings);

  /// Begins a forward and backward pass: gathers from here on wait for the present work of the compute
  /// stream. The network as a whole is a module too, at which parameters are gathered ahead.
  void begin_iteration();
  /// Enters a layer: releases the one before, gathers what is missing, waits for it, and gathers ahead.
  void enter(const HostThread& thread, std::uint32_t layer);
  /// Leaves the last layer of a pass.
  void leave(const HostThread& thread);

  /// Returns the elements of all parameters that are whole all the time. most_live() returns the largest
  /// number of other elements that are whole at once.
  std::int64_t persistent() const { return persistent_; }
  /// Returns the elements of each of those parameters.
  const std::vector<std::int64_t>& persistent_sizes() const { return persistent_sizes_; }
  std::int64_t most_live() const { return most_live_; }

 private:
  /// Computes the distances along the trace.
  void measure_trace();
  /// Frees a layer behind its use, unless it is needed again soon.
  void release(const HostThread& thread, std::uint32_t layer);
  bool is_reused(std::uint32_t layer) const;
  /// Adds one gather for the non-persistent parameters of some layers.
  void gather(const HostThread& thread, const std::vector<std::uint32_t>& layers);
  TaskId shards_from_host(const HostThread& thread, Bytes shard, std::int64_t parameters);
  /// Makes the compute stream wait for a layer.
  void wait_for(const HostThread& thread, std::uint32_t layer);
  /// Gathers ahead along the trace.
  void prefetch(const HostThread& thread);

  Process& process_;
  ZeroSettings settings_;
  const ZeroOptions& options_;
  std::vector<std::uint32_t> trace_;
  std::vector<std::size_t> next_visit_;        ///< per place in the trace: the next one of the same layer
  std::vector<std::int64_t> elements_before_;  ///< per place in the trace: sum of those before
  /// Per layer: elements, without persistent ones.
  std::vector<std::int64_t> elements_;
  std::vector<std::int64_t> parameters_;  ///< per layer: how many of them
  QueueId stream_;                        ///< allgather_stream
  HostThread drive_;                      ///< reads of NVMe, one behind the other
  LabelId gather_label_, copy_label_, host_label_;
  std::vector<std::int64_t> persistent_sizes_;
  std::int64_t persistent_ = 0, live_ = 0, most_live_ = 0;
  std::size_t step_ = 0;  ///< place in the trace
  /// First place of the trace that no prefetch has looked at.
  std::size_t queue_ = 0;
  std::uint32_t current_ = kNone;  ///< layer
  /// Per layer: the task after which it is whole, kNone while sharded.
  std::vector<TaskId> gathered_;
  std::vector<bool> waited_;  ///< per layer: the compute stream waits for it already
  /// Per layer: one more than the last place of the trace that it was gathered for.
  std::vector<std::size_t> wanted_;
  std::vector<std::size_t> asked_by_;  ///< per layer: the last prefetch that asked for it
  std::size_t prefetches_ = 0;
  TaskId iteration_start_ = kNone;
  std::deque<TaskId> fetches_;  ///< waited for, oldest first
};

/// Elements of one message where no option sets them (deepspeed/runtime/engine.py,
/// MEMORY_OPT_ALLREDUCE_SIZE).
inline constexpr std::int64_t kZeroMessage = 500'000'000;

/// Reduces gradients on their way into the shards (stages 1 to 3; stage 0 sums all of them after backward).
/// Buckets fill in the order of backward. With overlap, a full bucket is reduced on a stream of its own while
/// backward goes on.
class ZeroReduction {
 public:
  ZeroReduction(Process& process, const ZeroSettings& settings);

  /// Begins a micro-step of an optimizer step; states whether it is the first or the last one.
  void begin_micro_step(bool is_first, bool is_last) { is_first_ = is_first, is_last_ = is_last; }
  /// Puts a gradient into the bucket. A bucket that has no space for it is reduced first.
  void on_gradient(const HostThread& thread, std::uint32_t parameter);
  /// Ends a backward pass: reduces the rest, then the compute stream goes on. With `accumulating` the sums
  /// are added to earlier ones.
  void finish(const HostThread& thread, bool accumulating);
  /// Returns the task after which this rank's sums are in host memory (offload); kNone when they stay on the
  /// GPU.
  TaskId offloaded() const { return offloaded_; }
  /// Returns the messages launched so far.
  const std::vector<Bytes>& messages() const { return messages_; }

 private:
  /// The part of a bucket that belongs to the partition of one rank.
  struct Slice {
    std::int64_t rank = 0, elements = 0;
  };
  /// Returns the slices of the bucket, in the order of its gradients.
  std::vector<Slice> slices() const;
  /// Returns the collectives that reduce the bucket, with their elements (stages 1 and 2).
  std::vector<std::pair<CollectiveOp, std::int64_t>> exchanges() const;
  TaskId kernel(const HostThread& thread, std::int64_t bytes, Time reference, LabelId label);
  /// Adds one collective and notes its message.
  void exchange(const HostThread& thread, CollectiveOp op, std::int64_t elements);
  /// Reduces the bucket in the way of the stage and empties it.
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
  /// The task that the next kernel of `stream_` waits for.
  TaskId pending_ = kNone;
  /// The last task of the reduction stream.
  TaskId last_beside_ = kNone;
  TaskId offloaded_ = kNone;
  bool is_first_ = true, is_last_ = true;
  std::deque<TaskId> reductions_;  ///< stage 3: at most two of them run ahead of the host
  std::vector<Bytes> messages_;
};

/// Returns the time of DeepSpeedCPUAdam on every rank of a node, with the passes before and behind it. Every
/// rank uses all cores of the node unless a number of threads is set.
HostUpdateTime zero_host_update(const PlanRequest& request, const ZeroSettings& settings);

/// Adds DeepSpeed's step() on the partition of one rank: overflow check, gradient norm, the optimizer in
/// fp32, and the gathering of updated parameters.
class ZeroUpdate {
 public:
  /// `persistent` is for stage 3: the sizes of the parameters that are gathered here one by one. All others
  /// are gathered by the next forward pass. The other stages gather everything here.
  ZeroUpdate(Process& process, const ZeroSettings& settings, std::vector<std::int64_t> persistent);

  /// Adds the update and returns its last kernel. `gradients` is the task after which they are in host memory
  /// (offload).
  TaskId apply(TaskId gradients);

 private:
  /// Adds the check for infinities, and the norm of gradients.
  void check_overflow();
  void norm();
  /// Adds an all-reduce that the compute stream waits for.
  void sum(Bytes size, LabelId label, WireType type);
  /// Adds the optimizer where it runs, and the transport of new weights.
  TaskId update_on_gpu();
  TaskId update_on_host(TaskId gradients);
  TaskId weights_to_gpu(TaskId updated);
  TaskId weights_to_host();
  /// Returns the elements of the gathers of new weights, and adds them.
  std::vector<std::int64_t> gathers() const;
  void gather_weights();
  TaskId kernel(std::int64_t bytes, LabelId label);

  Process& process_;
  const Workload& workload_;
  ZeroSettings settings_;
  std::int64_t own_;                      ///< elements of the partition
  std::vector<std::int64_t> persistent_;  ///< stage 3: sizes of weights to be gathered
  /// Sizes of the gradients, or parts of them, in the partition.
  std::vector<std::int64_t> mine_;
  LabelId check_label_, norm_label_, optimizer_label_, weights_label_, gather_label_, host_label_,
      drive_label_;
};

/// Returns the sizes of the parameters, or parts of them, in the partition that has most of them. Stages 1
/// and 2 lay all end to end and cut them into equal pieces; stage 3 cuts every parameter.
std::vector<std::int64_t> partition_tensors(const ExpandedModel& model, const ZeroSettings& settings);

}  // namespace foretrain
