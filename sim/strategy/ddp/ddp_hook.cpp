// Exchange of complete buckets, with or without a communication hook.
//
// The hooks follow torch/distributed/algorithms/ddp_comm_hooks (1.13): default_hooks.py and powerSGD_hook.py.
// A future of NCCL is complete as soon as its kernel is enqueued, so the work that a hook chains to it runs
// at once on the autograd thread, and in order on the GPU.
#include <algorithm>

#include <fmt/format.h>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/ddp/ddp_reducer.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/process/gradient_options.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kHalfBytes = 2;

}  // namespace

BucketExchange::BucketExchange(Process& process, ProcessGroup& group, const std::vector<Bucket>& buckets)
    : process_(process),
      group_(group),
      buckets_(buckets),
      element_bytes_(gradient_element_bytes(process.request().workload)),
      compression_(process.request().options<GradientOptions>().compression),
      works_(buckets.size(), kNone),
      hook_label_(process.graph().label("communication hook")) {
  const bool halves = compression_ == Compression::fp16 || compression_ == Compression::bf16;
  if (halves && element_bytes_ == kHalfBytes) compression_ = Compression::none;  // already in 16 bit
  if (halves) cast_stream_ = process.graph().add_queue("hook stream");
  for (std::size_t b = 0; b < buckets.size(); ++b)
    labels_.push_back(process.graph().label(fmt::format("all_reduce bucket {}", b)));
  if (compression_ != Compression::powersgd) return;
  const std::vector<MatrixShape> shapes = matrix_shapes(*process.request().workload.model);
  for (const Bucket& bucket : buckets)
    splits_.push_back(split_bucket(bucket, shapes, process.request().options<DdpOptions>()));
}

// The Python of a hook runs before its work; a plain bucket is one all-reduce without Python.
void BucketExchange::launch(const HostThread& thread, std::size_t bucket) {
  if (compression_ != Compression::none)
    process_.host(thread, process_.calls().ddp_hook_python, Account::host);
  if (compression_ == Compression::powersgd) return low_rank(thread, bucket);
  if (compression_ != Compression::none) return halve(thread, bucket);
  works_[bucket] = group_.start(thread, CollectiveOp::all_reduce, buckets_[bucket].size, labels_[bucket],
                                weight_type(process_.request().workload));
}

void BucketExchange::wait(const HostThread& thread, std::size_t bucket) {
  if (compression_ == Compression::powersgd) return;
  if (compression_ == Compression::none || group_.is_gloo()) group_.wait(thread, works_[bucket]);
  if (compression_ == Compression::none) return;
  const std::int64_t bytes = kCastBytes * elements_of(bucket);
  const TaskId reduced = works_[bucket];
  if (!group_.is_gloo()) return process_.stream_waits_for(reduced);
  process_.launch_copy(thread, {bytes}, process_.calls().tensor, Account::other, hook_label_);
}

/// Casts and divides, and all-reduces in 16 bit. With NCCL, the cast back is launched at once on a stream of
/// its own.
void BucketExchange::halve(const HostThread& thread, std::size_t bucket) {
  const std::int64_t elements = elements_of(bucket);
  kernel(thread, kCastBytes * elements);
  kernel(thread, 2 * kHalfBytes * elements);
  const TaskId reduced = group_.start(thread, CollectiveOp::all_reduce, {kHalfBytes * elements},
                                      labels_[bucket], WireType::half);
  works_[bucket] = reduced;
  if (group_.is_gloo()) return;
  process_.host(thread, process_.calls().tensor, Account::host);
  works_[bucket] = process_.launch_on_side_stream(
      {thread, cast_stream_, {kCastBytes * elements}, hook_label_, {&reduced, 1}});
}

/// Launches one kernel of a hook that moves this many bytes.
void BucketExchange::kernel(const HostThread& thread, std::int64_t bytes) {
  process_.launch_copy(thread, {bytes}, process_.calls().tensor, Account::other, hook_label_);
}

/// Adds an all-reduce of elements and waits for the result, as PowerSGD's hook does.
void BucketExchange::reduce_now(const HostThread& thread, std::int64_t elements) {
  if (elements == 0) return;
  const LabelId label = process_.graph().label("all_reduce of PowerSGD");
  group_.wait(thread, group_.start(thread, CollectiveOp::all_reduce, {element_bytes_ * elements}, label,
                                   weight_type(process_.request().workload)));
}

/// Orthogonalises the columns of P or Q by Gram-Schmidt, matrix by matrix.
void BucketExchange::orthogonalise(const HostThread& thread, const PowerSgdBucket& split, bool p) {
  for (const LowRank& low : split.matrices) {
    const std::int64_t column = element_bytes_ * (p ? low.matrix.rows : low.matrix.columns);
    for (std::int64_t i = 0; i < gram_schmidt_kernels(low.rank); ++i) kernel(thread, 2 * column);
  }
}

/// Launches one thin product per matrix: M is read or written once, P and Q beside it.
void BucketExchange::multiply(const HostThread& thread, const PowerSgdBucket& split) {
  for (const LowRank& low : split.matrices) {
    const std::int64_t elements = low.matrix.rows * low.matrix.columns + low.p_elements() + low.q_elements();
    process_.launch_copy(thread, {element_bytes_ * elements}, process_.calls().ddp_hook_library,
                         Account::other, hook_label_);
  }
}

/// Runs PowerSGD on one bucket. It sends the uncompressed gradients, then P, then Q; each message needs the
/// one before, and the host waits for the result.
void BucketExchange::low_rank(const HostThread& thread, std::size_t bucket) {
  const PowerSgdBucket& split = splits_[bucket];
  const std::int64_t bytes = buckets_[bucket].size.count;
  kernel(thread, 3 * bytes);  // adds the error of the step before
  kernel(thread, 2 * bytes);  // keeps a copy
  kernel(thread, 2 * element_bytes_ * split.plain);
  orthogonalise(thread, split, false);
  multiply(thread, split);  // P = M Q
  reduce_now(thread, split.plain);
  kernel(thread, 2 * element_bytes_ * split.plain);  // divides
  for (const std::int64_t elements : split.vectors) kernel(thread, 2 * element_bytes_ * elements);
  reduce_now(thread, split.p);
  orthogonalise(thread, split, true);
  multiply(thread, split);  // Q = M^T P
  reduce_now(thread, split.q);
  kernel(thread, 2 * element_bytes_ * split.q);  // divides
  multiply(thread, split);                       // M = P Q^T
  process_.synchronize(thread);
  kernel(thread, 3 * bytes);  // the new error
}

std::vector<Bytes> BucketExchange::messages() const {
  std::vector<Bytes> sizes;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    if (compression_ == Compression::none) sizes.push_back(buckets_[b].size);
    if (compression_ == Compression::fp16 || compression_ == Compression::bf16)
      sizes.push_back({kHalfBytes * elements_of(b)});
    if (compression_ != Compression::powersgd) continue;
    for (const std::int64_t elements : {splits_[b].plain, splits_[b].p, splits_[b].q}) {
      if (elements > 0) sizes.push_back({element_bytes_ * elements});
    }
  }
  return sizes;
}

Bytes BucketExchange::memory() const {
  Bytes all{}, largest{};
  for (const Bucket& bucket : buckets_) all += bucket.size, largest = std::max(largest, bucket.size);
  if (compression_ == Compression::none) return {};
  if (compression_ == Compression::powersgd) return all + largest;  // errors of all buckets, a copy of one
  return {all.count * kHalfBytes / element_bytes_};
}

}  // namespace foretrain
