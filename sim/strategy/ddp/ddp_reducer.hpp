// The Reducer of DistributedDataParallel. It broadcasts buffers before forward, copies gradients into buckets
// during backward, and copies the buckets back at its end. A complete bucket is all-reduced, or handed to a
// communication hook that compresses it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/process/process_group.hpp"
#include "sim/workload/lowering/weight_shapes.hpp"

namespace foretrain {

/// A matrix M of n x m, which PowerSGD sends as P (n x rank) and Q (m x rank) with M = P Q^T.
struct LowRank {
  MatrixShape matrix;
  std::int64_t rank = 1;
  std::int64_t p_elements() const { return matrix.rows * rank; }
  std::int64_t q_elements() const { return matrix.columns * rank; }
};

/// The three messages of a bucket, in elements, and the matrices of the last two.
struct PowerSgdBucket {
  std::vector<LowRank> matrices;
  std::vector<std::int64_t> vectors;  ///< sizes of the gradients that are sent as they are
  std::int64_t plain = 0, p = 0, q = 0;
};

/// Divides a bucket into compressed and plain gradients, as
/// torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py does. A matrix of n x m is compressed when (n
/// + m) x rank x min_rate < n x m, with rank = min(n, m, powersgd_rank).
PowerSgdBucket split_bucket(const Bucket& bucket, const std::vector<MatrixShape>& shapes,
                            const DdpOptions& options);

/// Returns the kernels of Gram-Schmidt on a matrix of `rank` columns. Each column has a norm and a division,
/// and three kernels subtract it from the columns that follow.
std::int64_t gram_schmidt_kernels(std::int64_t rank);

/// Sends the buckets of a step (docs/models/replicated.md).
/// - none: one all-reduce of the bucket.
/// - fp16, bf16: cast and divide, one all-reduce of half the bytes, and a cast back beside the compute
///   stream.
/// - PowerSGD, after its first steps: three all-reduces one after the other, with thin matrix products
///   between them, and a device synchronisation. The autograd thread waits until then.
/// Holds references to its arguments, which must outlive it.
class BucketExchange {
 public:
  BucketExchange(Process& process, ProcessGroup& group, const std::vector<Bucket>& buckets);

  /// Starts the exchange of a complete bucket, on the autograd thread. The Python of a hook is included.
  void launch(const HostThread& thread, std::size_t bucket);
  /// Makes the compute stream's next kernels wait for the mean in the bucket.
  void wait(const HostThread& thread, std::size_t bucket);

  /// Returns the bytes of the messages of a step, in launch order.
  std::vector<Bytes> messages() const;
  /// Returns the bytes of the copies of gradients that the hook keeps.
  Bytes memory() const;

 private:
  void halve(const HostThread& thread, std::size_t bucket);
  void low_rank(const HostThread& thread, std::size_t bucket);
  void orthogonalise(const HostThread& thread, const PowerSgdBucket& split, bool p);
  void multiply(const HostThread& thread, const PowerSgdBucket& split);
  void kernel(const HostThread& thread, std::int64_t bytes);
  void reduce_now(const HostThread& thread, std::int64_t elements);
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

/// The Reducer of one process (torch/csrc/distributed/c10d/reducer.cpp; docs/models/replicated.md).
class Reducer {
 public:
  Reducer(Process& process, ProcessGroup& group);

  /// Begins a forward pass. `first` is true for the micro-step after an exchange of gradients: buffers are
  /// sent there.
  void before_forward(bool first);
  /// Ends a forward pass whose gradients will be exchanged.
  void before_backward();
  /// Runs the hook of a parameter, on the autograd thread, and launches buckets that are complete.
  void on_gradient(std::uint32_t parameter);
  /// Waits for the buckets, copies them back, and prepares the next exchange.
  void finalize_backward();

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const BucketExchange& exchange() const { return exchange_; }

 private:
  /// Broadcasts the buffers of one data type.
  void broadcast_group(std::int64_t element_bytes);
  /// Launches all buckets whose turn has come.
  void launch_complete_buckets();
  /// Sends the map of used parameters.
  void reduce_used_map();
  /// Returns the host time of the hook of a parameter.
  Time hook_cost() const;
  bool searches_unused() const;

  Process& process_;
  ProcessGroup& group_;
  const ExpandedModel& model_;
  const DdpOptions& options_;
  std::int64_t element_bytes_;  ///< of gradients
  std::vector<Bucket> buckets_;
  BucketExchange exchange_;
  std::vector<std::uint32_t> bucket_of_;  ///< per parameter
  std::vector<std::size_t> pending_;      ///< gradients missing per bucket
  std::size_t launched_ = 0;              ///< buckets of this step
  TaskId used_map_ = kNone;               ///< the map's all-reduce in this step
  LabelId buffer_label_, copy_in_label_, copy_out_label_, map_label_;
};

}  // namespace foretrain
