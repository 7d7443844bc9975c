// How DeepSpeed sums gradients: copied into one large buffer, reduced when it is full or backward has ended.
#pragma once

#include <deque>
#include <vector>

#include "sim/strategy/process/process.hpp"
#include "sim/strategy/zero/zero.hpp"

namespace foretrain {

/// Elements of one message where no knob says it (deepspeed/runtime/engine.py, MEMORY_OPT_ALLREDUCE_SIZE).
inline constexpr std::int64_t kZeroMessage = 500'000'000;

class ZeroReduction {
 public:
  ZeroReduction(Process& process, const ZeroSettings& settings);

  /// A gradient is there: into the bucket; one that does not fit any more is reduced first.
  void on_gradient(QueueId thread, std::uint32_t parameter);
  /// Backward has ended: reduces what is left, then the compute stream goes on. `accumulating`: the sums are
  /// added to earlier ones.
  void finish(QueueId thread, bool accumulating);
  /// The own sums have arrived in host memory (offload); kNone when they stay.
  TaskId offloaded() const { return offloaded_; }
  /// Launched so far.
  const std::vector<Bytes>& messages() const { return messages_; }

 private:
  TaskId kernel(QueueId thread, std::int64_t bytes, Time reference, LabelId label);
  void exchange(QueueId thread, CollectiveOp op, std::int64_t elements);
  void reduce_bucket(QueueId thread);
  void reduce_to_slices(QueueId thread, std::int64_t elements);
  void scatter(QueueId thread, std::int64_t elements);
  void offload(std::int64_t elements);
  void all_reduce_everything(QueueId thread);

  Process& process_;
  const ExpandedModel& model_;
  ZeroSettings settings_;
  std::int64_t bucket_;     ///< elements, ZeroOptions::reduce_bucket_size
  QueueId stream_;          ///< reduction_stream, reduce_and_partition_stream
  QueueId offload_stream_;  ///< copies to the host
  LabelId copy_label_, reduce_label_, pack_label_, own_label_, offload_label_;
  std::int64_t filled_ = 0;     ///< elements in the bucket
  TaskId pending_ = kNone;      ///< what the next kernel of `stream_` waits for
  TaskId last_beside_ = kNone;  ///< end of the reduction stream
  TaskId offloaded_ = kNone;
  std::deque<TaskId> reductions_;  ///< stage 3: at most two of them run ahead of the host
  std::vector<Bytes> messages_;
};

}  // namespace foretrain
