// The kernels that compute statistics and normalise are those of BatchNorm. SyncBatchNorm adds the
// collectives between them and the small operators around these.
#include "sim/strategy/step/sync_batch_norm.hpp"

#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

SyncBatchNorm::SyncBatchNorm(Process& process, ProcessGroup& group)
    : process_(process),
      group_(group),
      channels_(process.request().workload.model->layer_names.size()),
      ranks_(process.request().placement.size()),
      label_(process.graph().label("synchronised batch norm")) {
  const ExpandedModel& model = *process.request().workload.model;
  // Without running statistics the norms are of single samples.
  if (ranks_ == 1 || model.buffers.empty()) return;
  std::vector<bool> is_norm(channels_.size(), false);
  for (const Operator& op : model.forward)
    is_norm[op.layer] = is_norm[op.layer] || op.call == HostCall::batch_norm;
  // The number of channels is the size of the layer's weight and bias.
  for (const Parameter& parameter : model.parameters) {
    if (is_norm[parameter.layer]) channels_[parameter.layer] = parameter.elements;
  }
}

void SyncBatchNorm::before(const HostThread& thread, const Operator& op) {
  if (op.call != HostCall::batch_norm || channels_[op.layer] == 0) return;
  if (op.backward)
    reduce_gradients(thread, channels_[op.layer]);
  else
    gather_statistics(thread, channels_[op.layer]);
}

void SyncBatchNorm::small_kernel(const HostThread& thread) {
  process_.launch_copy(thread, {}, process_.calls().tensor, Account::other, label_);
}

/// Starts a collective of fp32 values and waits for it at once, as SyncBatchNorm's forward and backward do.
void SyncBatchNorm::exchange(const HostThread& thread, CollectiveOp op, std::int64_t floats) {
  group_.wait(thread, group_.start(thread, op, {kFloatBytes * floats}, label_, WireType::fp32));
}

void SyncBatchNorm::gather_statistics(const HostThread& thread, std::int64_t channels) {
  small_kernel(thread);  // the count
  small_kernel(thread);  // mean, deviation and count in one tensor
  exchange(thread, CollectiveOp::all_gather, ranks_ * (2 * channels + 1));
  small_kernel(thread);  // which ranks had data
  for (int tensor = 0; tensor < 3; ++tensor) {
    small_kernel(thread);
    process_.synchronize(thread);  // how many, to size what is picked
    small_kernel(thread);
  }
  small_kernel(thread);  // statistics of all
}

void SyncBatchNorm::reduce_gradients(const HostThread& thread, std::int64_t channels) {
  small_kernel(thread);  // both sums in one tensor
  exchange(thread, CollectiveOp::all_reduce, 2 * channels);
}

}  // namespace foretrain
