// Reduction of gradients. Stages 1 and 2 all-reduce the whole bucket and keep a slice, although less would
// suffice; stage 3 reduce-scatters. Without overlap all of it stands in the compute stream.
//
// A bucket has a fixed number of elements (5e8 by default), so small models have one bucket, which is full
// only at the end of backward: nothing overlaps. The step shows this as exposed communication, and no
// constant is needed for it.
#include <algorithm>

#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kReductionsInFlight = 2;

}  // namespace

ZeroReduction::ZeroReduction(Process& process, const ZeroSettings& settings)
    : process_(process),
      model_(*process.request().workload.model),
      settings_(settings),
      bucket_(process.request().options<ZeroOptions>().reduce_bucket_size),
      stream_(process.graph().add_queue("reduction stream")),
      copy_label_(process.graph().label("gradient to bucket")),
      reduce_label_(process.graph().label(settings.stage == 3 ? "reduce_scatter of gradients"
                                                              : "all_reduce of gradients")),
      pack_label_(process.graph().label("divide and pack gradients")),
      own_label_(process.graph().label("own slice of gradients")),
      offload_label_(process.graph().label("gradients to host memory")) {
  std::int64_t begin = 0;
  for (const Parameter& parameter : model_.parameters) {
    begins_.push_back(begin);
    begin += parameter.elements;
  }
}

/// Returns the places of the bucket's gradients in the partitions, with neighbours of one rank joined
/// (deepspeed/runtime/zero/stage_1_and_2.py, average_tensor).
std::vector<ZeroReduction::Slice> ZeroReduction::slices() const {
  const std::int64_t own = settings_.own(model_.parameter_elements());
  std::vector<Slice> out;
  for (const std::uint32_t parameter : in_bucket_) {
    std::int64_t at = begins_[parameter], left = model_.parameters[parameter].elements;
    while (left > 0) {
      const std::int64_t rank = at / own, taken = std::min(left, (rank + 1) * own - at);
      if (!out.empty() && out.back().rank == rank)
        out.back().elements += taken;
      else
        out.push_back({rank, taken});
      at += taken, left -= taken;
    }
  }
  return out;
}

/// Returns the collectives of a bucket. Slices are sent together until they have more elements than a bucket
/// (allreduce_and_scatter), or the slices of each rank are reduced to it.
std::vector<std::pair<CollectiveOp, std::int64_t>> ZeroReduction::exchanges() const {
  const ZeroOptions& options = process_.request().options<ZeroOptions>();
  std::vector<std::pair<CollectiveOp, std::int64_t>> out;
  if (!options.reduce_scatter) return {{CollectiveOp::all_reduce, filled_}};
  std::vector<std::int64_t> ranks;
  bool is_full = true;
  for (const Slice& slice : slices()) {
    if (options.multi_rank_allreduce) {
      if (is_full) out.push_back({CollectiveOp::all_reduce, 0});
      out.back().second += slice.elements;
      is_full = out.back().second > bucket_;
      continue;
    }
    const auto known = std::ranges::find(ranks, slice.rank) - ranks.begin();
    if (known == std::ssize(ranks)) ranks.push_back(slice.rank), out.push_back({CollectiveOp::reduce, 0});
    out[static_cast<std::size_t>(known)].second += slice.elements;
  }
  return out;
}

/// Launches a kernel in the compute stream. With overlap it is in the reduction stream, behind the present
/// work of the compute stream.
TaskId ZeroReduction::kernel(const HostThread& thread, std::int64_t bytes, Time reference, LabelId label) {
  if (!settings_.overlap) return process_.launch_copy(thread, {bytes}, reference, Account::other, label);
  std::vector<TaskId> after{process_.last_kernel()};
  if (pending_ != kNone) after.push_back(pending_);
  pending_ = kNone;
  process_.host(thread, reference, Account::host);
  return last_beside_ = process_.launch_on_side_stream({thread, stream_, {bytes}, label, after});
}

/// Starts a collective: the compute stream waits for it or, with overlap, the next kernel of the reduction
/// stream.
void ZeroReduction::exchange(const HostThread& thread, CollectiveOp op, std::int64_t elements) {
  const Bytes size{settings_.element_bytes * elements};
  messages_.push_back(size);
  if (!settings_.overlap)
    return process_.stream_waits_for(
        process_.collective(thread, op, size, reduce_label_, settings_.element_type()));
  pending_ = process_.collective(
      {thread, op, size, reduce_label_, kNone, {&last_beside_, 1}, Group::world, settings_.element_type()});
}

// Stages 1 and 2 copy into the bucket in the compute stream; stage 3 does so, with overlap, in the reduction
// stream.
void ZeroReduction::on_gradient(const HostThread& thread, std::uint32_t parameter) {
  if (settings_.stage == 0) return;
  const std::int64_t elements = model_.parameters[parameter].elements;
  if (filled_ > 0 && filled_ + elements > bucket_) reduce_bucket(thread);
  filled_ += elements;
  in_bucket_.push_back(parameter);
  // A gradient larger than the bucket is reduced where it is, without a copy.
  const std::int64_t moved = elements > bucket_ ? 0 : 2 * settings_.element_bytes * elements;
  if (moved == 0) {
    process_.host(thread, process_.calls().zero_hook, Account::host);
  } else if (settings_.stage == 3) {
    kernel(thread, moved, process_.calls().zero_hook, copy_label_);
  } else {
    process_.launch_copy(thread, {moved}, process_.calls().zero_hook, Account::other, copy_label_);
  }
}

/// Divides a bucket by the ranks, packs the slices of all ranks, reduces them, and copies the own slice back.
void ZeroReduction::reduce_to_slices(const HostThread& thread, std::int64_t elements) {
  const std::int64_t bytes = settings_.element_bytes * elements;
  if (settings_.overlap && last_beside_ != kNone)
    process_.stream_waits_for(last_beside_);  // the other of the two buffers
  kernel(thread, 2 * bytes, process_.calls().zero_bucket, pack_label_);
  if (settings_.ranks > 1) kernel(thread, 2 * bytes, process_.calls().zero_bucket, pack_label_);
  for (const auto& [op, sent] : exchanges()) exchange(thread, op, sent);
  kernel(thread, 2 * bytes / settings_.ranks, process_.calls().zero_bucket, own_label_);
}

/// Divides a bucket, brings the parts of each rank together, reduce-scatters them, and puts the own part into
/// the partition.
void ZeroReduction::scatter(const HostThread& thread, std::int64_t elements) {
  if (reductions_.size() >= kReductionsInFlight) {
    process_.synchronize(thread, reductions_.front());
    reductions_.pop_front();
  }
  const std::int64_t bytes = settings_.element_bytes * elements;
  kernel(thread, 2 * bytes, process_.calls().zero_bucket, pack_label_);
  kernel(thread, 2 * bytes, process_.calls().zero_bucket, pack_label_);
  exchange(thread, CollectiveOp::reduce_scatter, elements);
  reductions_.push_back(
      kernel(thread, 2 * bytes / settings_.ranks, process_.calls().zero_bucket, own_label_));
}

void ZeroReduction::reduce_bucket(const HostThread& thread) {
  const std::int64_t elements = filled_;
  settings_.stage == 3 ? scatter(thread, elements) : reduce_to_slices(thread, elements);
  filled_ = 0, in_bucket_.clear();
  if (settings_.offload) offload(thread, elements);
}

/// Copies the own slice, which was cast to fp32, to the host in the stream that reduced it. Sums of several
/// micro-steps are kept on the host: each micro-step but the first copies them back, adds, and writes them
/// again (async_accumulate_grad_in_cpu_via_gpu).
void ZeroReduction::offload(const HostThread& thread, std::int64_t elements) {
  const std::int64_t own = settings_.own(elements), sums = settings_.element_bytes * own;
  const bool has_own_stream = settings_.overlap || settings_.stage == 3;
  const QueueId stream = has_own_stream && last_beside_ != kNone ? stream_ : process_.compute_stream();
  const auto copy = [&](std::int64_t bytes, bool to_gpu) {
    const TaskId ready = stream == stream_ ? last_beside_ : process_.last_kernel();
    offloaded_ = process_.host_copy({.stream = stream,
                                     .bytes = {bytes},
                                     .to_gpu = to_gpu,
                                     .pinned = settings_.pinned,
                                     .label = offload_label_,
                                     .after = {&ready, 1}});
    if (stream == stream_) last_beside_ = offloaded_;
  };
  if (!is_first_) copy(sums, true);
  if (!is_first_ || !is_last_) copy(sums, false);
  if (is_last_) copy(kFloatBytes * own, false);
  if (!settings_.pinned) process_.synchronize(thread, offloaded_);
}

/// Reduces all gradients in stage 0: they are flattened, summed, divided, and copied back into every
/// gradient.
void ZeroReduction::all_reduce_everything(const HostThread& thread) {
  std::vector<std::int64_t> group;
  std::int64_t elements = 0;
  const auto send = [&] {
    kernel(thread, 2 * settings_.element_bytes * elements, process_.calls().zero_bucket, pack_label_);
    exchange(thread, CollectiveOp::all_reduce, elements);
    kernel(thread, 2 * settings_.element_bytes * elements, process_.calls().scalar, pack_label_);
    for (const std::int64_t own : group)
      kernel(thread, 2 * settings_.element_bytes * own, process_.calls().scalar, own_label_);
    group.clear(), elements = 0;
  };
  for (const Parameter& parameter : model_.parameters) {
    group.push_back(parameter.elements);
    elements += parameter.elements;
    if (elements > kZeroMessage) send();
  }
  if (!group.empty()) send();
}

// The host waits for the reduction stream too where there is overlap.
void ZeroReduction::finish(const HostThread& thread, bool accumulating) {
  if (settings_.stage == 0) return all_reduce_everything(thread);
  if (filled_ > 0) reduce_bucket(thread);
  if (accumulating)
    kernel(thread, 3 * settings_.element_bytes * settings_.own(model_.parameter_elements()),
           process_.calls().zero_bucket, own_label_);
  reductions_.clear();
  if (!settings_.overlap) return;
  process_.stream_waits_for(last_beside_);
  process_.synchronize(thread, last_beside_);
}

}  // namespace foretrain
