// The Reducer's work in a step. Buckets are launched strictly in order, since all ranks must issue the same
// collectives. The waits at the end of backward have the same order.
#include "sim/strategy/ddp/ddp_reducer.hpp"

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

constexpr double kViewHook = 0.9;      ///< measured: hooks on views of buckets take 10 % less
constexpr std::int64_t kMapBytes = 4;  ///< int32 per parameter

}  // namespace

Reducer::Reducer(Process& process, ProcessGroup& group)
    : process_(process),
      group_(group),
      model_(*process.request().workload.model),
      options_(process.request().options<DdpOptions>()),
      element_bytes_(gradient_element_bytes(process.request().workload)),
      buckets_(form_buckets(model_, options_in(options_, process.request().workload.framework.version),
                            element_bytes_, arrival_in(process.request().workload))),
      exchange_(process, group, buckets_),
      bucket_of_(model_.parameters.size()),
      buffer_label_(process.graph().label("buffer broadcast")),
      copy_in_label_(process.graph().label("gradient to bucket")),
      copy_out_label_(process.graph().label("bucket to gradient")),
      map_label_(process.graph().label("map of used parameters")) {
  for (std::uint32_t b = 0; b < buckets_.size(); ++b) {
    for (const std::uint32_t parameter : buckets_[b].parameters) bucket_of_[parameter] = b;
    pending_.push_back(buckets_[b].parameters.size());
  }
}

// A static graph needs no search: the first iteration records which parameters are unused.
bool Reducer::searches_unused() const { return options_.find_unused_parameters && !options_.static_graph; }

/// Broadcasts the buffers of one data type: they are flattened, broadcast from rank 0, and copied back into
/// every buffer. The copies wait for the broadcast.
void Reducer::broadcast_group(std::int64_t element_bytes) {
  Bytes total{};
  for (const Buffer& buffer : model_.buffers) {
    if (buffer.element_bytes == element_bytes) total += Bytes{buffer.elements * element_bytes};
  }
  if (total.count == 0) return;
  const HostThread thread = process_.main_thread();
  process_.launch_copy(thread, total * 2, process_.calls().flatten, Account::other, buffer_label_);
  const WireType type = element_bytes == kFloatBytes ? WireType::fp32 : WireType::int64;
  group_.wait(thread, group_.start(thread, CollectiveOp::broadcast, total, buffer_label_, type));
  for (const Buffer& buffer : model_.buffers) {
    if (buffer.element_bytes != element_bytes) continue;
    process_.launch_copy(thread, {2 * buffer.elements * element_bytes}, process_.calls().copy, Account::other,
                         buffer_label_);
  }
}

void Reducer::before_forward(bool first) {
  process_.host(process_.main_thread(), process_.host_costs().ddp_forward, Account::host);
  if (!first || !options_.broadcast_buffers) return;
  // fp32 statistics and int64 counters are separate messages.
  broadcast_group(4);
  broadcast_group(8);
}

// The search for unused parameters walks the autograd graph from the loss.
void Reducer::before_backward() {
  if (!searches_unused()) return;
  const auto nodes = static_cast<std::int64_t>(model_.backward.size() + model_.parameters.size());
  process_.host(process_.main_thread(), process_.calls().ddp_unused_node * nodes, Account::host, map_label_);
}

Time Reducer::hook_cost() const {
  const Time plain = process_.host_costs().ddp_hook;
  const Time own = options_.gradient_as_bucket_view ? seconds(to_seconds(plain) * kViewHook) : plain;
  return own + (options_.static_graph             ? process_.calls().ddp_static_hook
                : options_.find_unused_parameters ? process_.calls().ddp_unused_hook
                                                  : Time{});
}

/// Copies the gradient into its bucket: it is read, and written divided by the number of ranks.
void Reducer::on_gradient(std::uint32_t parameter) {
  const std::int64_t bytes = 2 * element_bytes_ * model_.parameters[parameter].elements;
  process_.launch_copy(process_.autograd_thread(), {bytes}, hook_cost(), Account::other, copy_in_label_);
  --pending_[bucket_of_[parameter]];
  launch_complete_buckets();
}

// A bucket that is complete waits until all buckets before it have been launched.
void Reducer::launch_complete_buckets() {
  if (launched_ == buckets_.size()) return;
  while (launched_ < buckets_.size() && pending_[launched_] == 0)
    exchange_.launch(process_.autograd_thread(), launched_++);
  if (launched_ == buckets_.size() && searches_unused()) reduce_used_map();
}

/// Sends a map behind the last bucket that says which parameters any rank used: it is copied to the GPU and
/// all-reduced.
void Reducer::reduce_used_map() {
  const HostThread thread = process_.autograd_thread();
  const Bytes size{kMapBytes * static_cast<std::int64_t>(model_.parameters.size())};
  process_.launch_copy(thread, size, process_.host_costs().copy_call, Account::other, map_label_);
  used_map_ = group_.start(thread, CollectiveOp::all_reduce, size, map_label_, WireType::int32);
}

void Reducer::finalize_backward() {
  const HostThread thread = process_.autograd_thread();
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    process_.host(thread, process_.host_costs().event, Account::host);
    exchange_.wait(thread, b);
    pending_[b] = buckets_[b].parameters.size();
    if (options_.gradient_as_bucket_view) continue;
    for (const std::uint32_t parameter : buckets_[b].parameters) {
      const Bytes bytes{2 * element_bytes_ * model_.parameters[parameter].elements};
      process_.launch_copy(thread, bytes, process_.calls().copy, Account::other, copy_out_label_);
    }
  }
  if (used_map_ != kNone) group_.wait(thread, used_map_);
  used_map_ = kNone;
  launched_ = 0;
  process_.hand_over(thread, process_.main_thread());
}

}  // namespace foretrain
