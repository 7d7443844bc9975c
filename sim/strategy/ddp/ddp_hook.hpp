// What DistributedDataParallel does with a complete bucket: all-reduce it, or hand it to a communication hook
// that compresses it.
#pragma once

#include <vector>

#include "sim/strategy/ddp/power_sgd.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/process/process_group.hpp"

namespace foretrain {

/// Sends the buckets of a step (docs/models/ddp.md). None: one all-reduce of the bucket. fp16, bf16: cast and
/// divide, one all-reduce of half the bytes, cast back beside the compute stream. PowerSGD, after its first
/// steps: three all-reduces one after the other, with thin matrix products between them, and a device
/// synchronisation; the autograd thread stands still until then.
class BucketExchange {
 public:
  BucketExchange(Process& process, ProcessGroup& group, const std::vector<Bucket>& buckets);

  /// Called on the autograd thread with the number of a complete bucket. `reference`: Python of a hook is
  /// included.
  void launch(QueueId thread, std::size_t bucket);
  /// The compute stream's next kernels find the mean in the bucket.
  void wait(QueueId thread, std::size_t bucket);

  /// What goes over the wire per step, in launch order.
  std::vector<Bytes> messages() const;
  /// Copies of gradients that the hook keeps.
  Bytes memory() const;

 private:
  void halve(QueueId thread, std::size_t bucket);
  void low_rank(QueueId thread, std::size_t bucket);
  void orthogonalise(QueueId thread, const PowerSgdBucket& split, bool p);
  void multiply(QueueId thread, const PowerSgdBucket& split);
  void kernel(QueueId thread, std::int64_t bytes);
  void reduce_now(QueueId thread, std::int64_t elements);
  std::int64_t elements_of(std::size_t bucket) const { return buckets_[bucket].size.count / element_bytes_; }

  Process& process_;
  ProcessGroup& group_;
  const std::vector<Bucket>& buckets_;
  std::int64_t element_bytes_;  ///< of gradients
  Compression compression_;
  std::vector<PowerSgdBucket> splits_;  ///< per bucket, of PowerSGD
  std::vector<LabelId> labels_;         ///< per bucket
  std::vector<TaskId> works_;           ///< per bucket: its collective, in progress
  QueueId cast_stream_ = kNone;
  LabelId hook_label_;
};

}  // namespace foretrain
