// Gathers of units. A gather depends on the optimizer and on its place in NCCL's stream, not on the compute
// stream. The host runs ahead, so the next unit is gathered while this one computes, unless the rate limiter
// holds the host or a reduction stands before the gather in NCCL's stream.
//
// The invariant is about memory: at most two gathered units wait for use besides the one in use. The host
// enforces it by waiting, so a rate-limited step can become host-bound.
#include "sim/strategy/fsdp/fsdp_gathering.hpp"

#include <algorithm>

namespace foretrain {

namespace {

constexpr std::size_t kGathersInFlight = 2;  ///< _FreeEventQueue

}  // namespace

FsdpGathering::FsdpGathering(Process& process, const ModelUnits& units, const FsdpSettings& settings)
    : process_(process),
      units_(units),
      settings_(settings),
      shard_stream_(process.graph().add_queue(settings.per_parameter ? "all-gather copy-in stream"
                                                                     : "pre-unshard stream")),
      forward_label_(process.graph().label("all_gather in forward")),
      backward_label_(process.graph().label("all_gather in backward")),
      shard_label_(process.graph().label(settings.per_parameter ? "copy into all-gather" : "cast of shards")),
      copy_out_label_(process.graph().label("copy out of all-gather")),
      host_label_(process.graph().label("shards from host memory")),
      gathered_(units.units.size(), kNone),
      waited_(units.units.size(), false),
      ran_backward_(units.units.size(), false),
      place_(units.units.size(), kNone) {}

/// Adds the host time of a hook, which sets a view for each parameter of the unit.
void FsdpGathering::hook(const HostThread& thread, std::uint32_t unit) {
  const auto views = static_cast<std::int64_t>(units_.units[unit].parameters.size());
  process_.host(thread, process_.calls().fsdp_hook + process_.calls().fsdp_view * views, Account::host);
}

void FsdpGathering::begin_iteration() {
  iteration_start_ = process_.last_kernel();
  in_backward_ = false;
  forward_order_.clear();
  std::fill(place_.begin(), place_.end(), kNone);
  copy_outs_.clear();
  std::fill(ran_backward_.begin(), ran_backward_.end(), false);
}

/// Copies a shard from host memory in its own width; it is cast on the GPU.
TaskId FsdpGathering::shard_from_host(const HostThread& thread, std::uint32_t unit) {
  const TaskId call = process_.host(thread, process_.host_costs().copy_call, Account::host);
  const TaskId before[] = {call, iteration_start_};
  const TaskId copied =
      process_.host_copy({.stream = shard_stream_,
                          .bytes = {settings_.shard_bytes * units_.units[unit].gathered / settings_.shards},
                          .pinned = settings_.pinned,
                          .account = Account::exposed_communication,
                          .label = host_label_,
                          .after = before});
  // Copies from pageable memory hold the host up.
  if (!settings_.pinned) process_.synchronize(thread, copied);
  return copied;
}

/// Prepares a shard for its gather: it is cast to 16 bits (mixed precision), or the shards of all parameters
/// are put together (FSDP2). Returns kNone when it can be sent as it is.
TaskId FsdpGathering::prepare_shard(const HostThread& thread, std::uint32_t unit) {
  const TaskId copied = settings_.offloads ? shard_from_host(thread, unit) : kNone;
  if (!settings_.per_parameter && !settings_.casts_shards()) return copied;
  const std::int64_t shard = units_.units[unit].gathered / settings_.shards;
  std::vector<TaskId> after;
  if (iteration_start_ != kNone) after.push_back(iteration_start_);
  if (copied != kNone) after.push_back(copied);
  if (settings_.per_parameter && !copy_outs_.empty()) {
    // The buffer of the gather before the last one must have been copied out in forward, that of the last one
    // in backward.
    const std::size_t back = in_backward_ ? 1 : 2;
    if (copy_outs_.size() >= back) after.push_back(copy_outs_[copy_outs_.size() - back]);
  }
  return process_.launch_on_side_stream({thread,
                                         shard_stream_,
                                         {(settings_.shard_bytes + settings_.element_bytes) * shard},
                                         shard_label_,
                                         after});
}

/// Starts the gather of a unit that is not whole. The rate limiter makes the host wait for the oldest freed
/// unit.
void FsdpGathering::unshard(const HostThread& thread, std::uint32_t unit) {
  if (!gathers() || gathered_[unit] != kNone || units_.units[unit].gathered == 0) return;
  const TaskId shard = prepare_shard(thread, unit);
  if (settings_.shards == 1) {
    gathered_[unit] = shard, waited_[unit] = false;
    return;
  }
  if (!settings_.per_parameter && settings_.limit_all_gathers && free_events_.size() >= kGathersInFlight) {
    process_.synchronize(thread, free_events_.front());
    free_events_.pop_front();
  }
  const std::vector<TaskId> after{shard != kNone ? shard : iteration_start_};
  const bool anything_before = after.front() != kNone;
  const Bytes size{settings_.element_bytes * units_.units[unit].gathered};
  waited_[unit] = false;
  gathered_[unit] = process_.collective(
      {thread, CollectiveOp::all_gather, size, in_backward_ ? backward_label_ : forward_label_, kNone,
       anything_before ? std::span<const TaskId>(after) : std::span<const TaskId>(), settings_.group,
       settings_.gathered_type});
}

/// Makes the compute stream wait for a unit, once; FSDP2 then copies it out of the gathered buffer.
void FsdpGathering::wait_for(const HostThread& thread, std::uint32_t unit) {
  if (gathered_[unit] == kNone || waited_[unit]) return;
  waited_[unit] = true;
  process_.host(thread, process_.host_costs().event, Account::host);
  process_.stream_waits_for(gathered_[unit]);
  if (!settings_.per_parameter) return;
  const Bytes copied{2 * settings_.element_bytes * units_.units[unit].gathered};
  copy_outs_.push_back(
      process_.launch_copy(thread, copied, process_.calls().flatten, Account::other, copy_out_label_));
}

/// Frees a unit and records the event that the rate limiter waits for.
void FsdpGathering::free_unit(const HostThread& thread, std::uint32_t unit) {
  if (gathered_[unit] == kNone) return;
  gathered_[unit] = kNone;
  if (settings_.per_parameter || !settings_.limit_all_gathers) return;
  process_.host(thread, process_.host_costs().event, Account::host);
  free_events_.push_back(process_.last_kernel());
}

void FsdpGathering::pre_forward(std::uint32_t unit) {
  const HostThread thread = process_.main_thread();
  hook(thread, unit);
  unshard(thread, unit);
  wait_for(thread, unit);
  // An explicit forward prefetch gathers the next unit here. Without it the gather follows when the host
  // comes to that unit.
  if (settings_.forward_prefetch && unit + 1 < units_.units.size()) unshard(thread, unit + 1);
}

/// The root stays whole, because backward begins with it.
void FsdpGathering::post_forward(std::uint32_t unit) {
  hook(process_.main_thread(), unit);
  if (place_[unit] == kNone) {
    place_[unit] = static_cast<std::uint32_t>(forward_order_.size());
    forward_order_.push_back(unit);
  }
  const Reshard own = units_.units[unit].reshard;
  const bool reshards =
      settings_.sharding == Sharding::full_shard || settings_.sharding == Sharding::hybrid_shard;
  if (unit == 0 || own == Reshard::never || (own == Reshard::by_sharding && !reshards)) return;
  free_unit(process_.main_thread(), unit);
}

/// Gathers the unit whose backward pass comes after this one's: the one before it in forward.
void FsdpGathering::prefetch_before(std::uint32_t unit) {
  if (place_[unit] == kNone || place_[unit] == 0) return;
  const std::uint32_t next = forward_order_[place_[unit] - 1];
  if (!ran_backward_[next]) unshard(process_.autograd_thread(), next);
}

void FsdpGathering::pre_backward(std::uint32_t unit) {
  if (ran_backward_[unit]) return;
  ran_backward_[unit] = true;
  in_backward_ = true;
  const HostThread thread = process_.autograd_thread();
  hook(thread, unit);
  unshard(thread, unit);
  wait_for(thread, unit);
  if (settings_.backward_prefetch == BackwardPrefetch::pre && units_.units[unit].prefetches)
    prefetch_before(unit);
}

void FsdpGathering::post_backward(std::uint32_t unit, bool synchronises) {
  hook(process_.autograd_thread(), unit);
  if (synchronises || settings_.sharding != Sharding::shard_grad_op)
    free_unit(process_.autograd_thread(), unit);
  if (settings_.backward_prefetch == BackwardPrefetch::post) prefetch_before(unit);
}

}  // namespace foretrain
