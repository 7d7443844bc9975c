// Reduction of units' gradients. FSDP1 has one flat gradient per unit, which the backward of its split writes
// in the compute stream. FSDP2 has a gradient per parameter and puts them together in its reduction stream,
// but the compute stream waits there until the unit before has been reduced.
#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

int gradient_predivide_factor(int ranks) {
  int factor = 1;
  while (ranks % factor == 0 && ranks / factor > factor) factor *= 2;
  return factor;
}

FsdpReduction::FsdpReduction(Process& process, const ModelUnits& units, const FsdpSettings& settings)
    : process_(process),
      units_(units),
      settings_(settings),
      stream_(process.graph().add_queue(settings.per_parameter ? "reduce-scatter stream"
                                                               : "post-backward stream")),
      across_stream_(process.graph().add_queue("NCCL stream between replicas")),
      flatten_label_(process.graph().label("flat gradient")),
      divide_label_(process.graph().label("divide gradient")),
      reduce_label_(process.graph().label(
          settings.sharding == Sharding::no_shard ? "all_reduce of units" : "reduce_scatter of units")),
      across_label_(process.graph().label("shards between replicas")),
      shard_label_(process.graph().label("gradient to shard")),
      host_label_(process.graph().label("gradient to host memory")),
      predivide_(gradient_predivide_factor(settings.ranks)) {}

/// Writes the flat gradient (FSDP1), and adds it to that of earlier micro-steps.
void FsdpReduction::flatten(std::uint32_t unit, bool accumulating) {
  const std::int64_t bytes = settings_.element_bytes * units_.units[unit].elements;
  const HostThread thread = process_.autograd_thread();
  if (!settings_.per_parameter)
    process_.launch_copy(thread, {2 * bytes}, process_.calls().flatten, Account::other, flatten_label_);
  if (accumulating)
    process_.launch_copy(thread, {kAddPasses * bytes}, process_.calls().accumulate, Account::other,
                         flatten_label_);
}

/// Prepares the input of a reduction. FSDP1 divides in place, or into the type that is summed. FSDP2 copies
/// the gradients together in that type, and lets NCCL average in fp32.
TaskId FsdpReduction::prepare(std::uint32_t unit) {
  const TaskId computed = process_.last_kernel();
  const bool casts = settings_.reduced_bytes != settings_.element_bytes;
  if (!settings_.per_parameter && predivide_ == 1 && !casts) return computed;
  const Bytes moved{(settings_.element_bytes + settings_.reduced_bytes) * units_.units[unit].reduced};
  return process_.launch_on_side_stream(
      {process_.autograd_thread(), stream_, moved, divide_label_, {&computed, 1}});
}

/// Starts the reduction among the ranks of one copy and, with replicas, the sum of shards across copies.
TaskId FsdpReduction::reduce(std::uint32_t unit, TaskId input) {
  const HostThread thread = process_.autograd_thread();
  const std::int64_t elements = units_.units[unit].reduced;
  const Bytes size{settings_.reduced_bytes * elements};
  messages_.push_back(size);
  const CollectiveOp op =
      settings_.sharding == Sharding::no_shard ? CollectiveOp::all_reduce : CollectiveOp::reduce_scatter;
  const TaskId reduced = process_.collective(
      {thread, op, size, reduce_label_, kNone, {&input, 1}, settings_.group, settings_.reduced_type});
  if (settings_.replicas == 1) return reduced;
  const Bytes shard{size.count / settings_.shards};
  return process_.collective({thread,
                              CollectiveOp::all_reduce,
                              shard,
                              across_label_,
                              across_stream_,
                              {&reduced, 1},
                              Group::across,
                              settings_.reduced_type});
}

/// Updates the shard: the second division, the cast back to fp32, and the sum with what is there from the
/// last step when the script does not zero it. Offloaded shards are copied to the host.
void FsdpReduction::update_shard(std::uint32_t unit, TaskId reduced, bool adds) {
  const std::int64_t elements = units_.units[unit].reduced / settings_.shards;
  adds = adds || process_.request().workload.loop.zero_grad != TrainingLoop::ZeroGrad::set_to_none;
  const bool divides =
      !(settings_.per_parameter && !settings_.casts_gradients()) && settings_.ranks > predivide_;
  const std::int64_t bytes = (divides ? 2 * settings_.reduced_bytes : 0) +
                             (settings_.casts_gradients() ? kCastBytes : 0) +
                             (adds ? kAddPasses * kFloatBytes : 0);
  last_update_ = reduced;
  if (bytes > 0)
    last_update_ = process_.launch_on_side_stream(
        {process_.autograd_thread(), stream_, {bytes * elements}, shard_label_, {&reduced, 1}});
  if (!settings_.offloads) return;
  last_update_ = process_.host_copy({.stream = stream_,
                                     .bytes = {settings_.shard_bytes * elements},
                                     .to_gpu = false,
                                     .pinned = settings_.pinned,
                                     .label = host_label_,
                                     .after = {&last_update_, 1}});
  if (!settings_.pinned) process_.synchronize(process_.autograd_thread(), last_update_);
}

void FsdpReduction::post_backward(std::uint32_t unit, const GradientState& state) {
  flatten(unit, state.accumulates);
  if (!state.synchronises) return;
  if (settings_.per_parameter && last_reduction_ != kNone) process_.stream_waits_for(last_reduction_);
  last_reduction_ = reduce(unit, prepare(unit));
  update_shard(unit, last_reduction_, state.adds_to_shard);
}

void FsdpReduction::begin_exchange() { messages_.clear(); }

void FsdpReduction::finish() {
  if (last_update_ == kNone) return;
  process_.host(process_.autograd_thread(), process_.host_costs().event, Account::host);
  process_.stream_waits_for(last_update_);
  last_reduction_ = last_update_ = kNone;
}

}  // namespace foretrain
