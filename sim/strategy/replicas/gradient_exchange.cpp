// Exchange of packs. A concatenation and a split each read and write every byte once. In between, the
// executor waits: the callback of the sum, fired when the GPU has finished, puts the next operators into the
// executor's queue.
#include "sim/strategy/replicas/gradient_exchange.hpp"

#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

GradientExchange::GradientExchange(Process& process, const ReplicaThreads& threads,
                                   std::vector<GradientPack> packs, SumOverReplicas sum, bool halves)
    : process_(process),
      threads_(threads),
      launches_(process),
      packs_(std::move(packs)),
      sum_(std::move(sum)),
      pack_of_(process.request().workload.model->parameters.size()),
      halves_(halves),
      concat_label_(process.graph().label("concatenation of gradients")),
      split_label_(process.graph().label("split of summed gradients")),
      convert_label_(process.graph().label("gradient to and from 16 bit")) {
  for (std::size_t p = 0; p < packs_.size(); ++p) {
    for (const std::uint32_t parameter : packs_[p].parameters) pack_of_[parameter] = p;
    missing_.push_back(packs_[p].parameters.size());
  }
}

/// Packs leave in their order, so a complete pack waits for those before it.
void GradientExchange::on_gradient(std::uint32_t parameter) {
  --missing_[pack_of_[parameter]];
  while (sums_.size() < packs_.size() && missing_[sums_.size()] == 0) launch(sums_.size());
}

/// Issues the reshapes of a pack's tensors: one node for each, without a kernel.
void GradientExchange::reshape(const HostThread& thread, std::size_t tensors) {
  const auto count = static_cast<std::int64_t>(tensors);
  launches_.nodes(thread, {static_cast<int>(tensors), 0, {}}, Account::other, concat_label_);
  if (!launches_.is_graph())
    process_.host(thread, process_.calls().eager_operator * count, Account::host, concat_label_);
}

/// Converts gradients to or from 16 bits, with a kernel for each tensor.
void GradientExchange::convert(const HostThread& thread, const GradientPack& pack) {
  if (!halves_) return;
  const std::vector<Parameter>& parameters = process_.request().workload.model->parameters;
  for (const std::uint32_t parameter : pack.parameters) {
    launches_.kernel(thread, {kCastBytes * parameters[parameter].elements}, process_.host_costs().copy_call,
                     Account::other, convert_label_);
  }
}

/// Concatenates a pack and sends its messages. A pack in several messages needs another kernel to cut the
/// tensor.
void GradientExchange::launch(std::size_t p) {
  const GradientPack& pack = packs_[p];
  const HostThread& thread = threads_.autograd;
  const Time call = process_.host_costs().copy_call;
  convert(thread, pack);
  if (pack.is_copied()) {
    reshape(thread, pack.parameters.size());
    launches_.kernel(thread, pack.size() * 2, call, Account::other, concat_label_);
    if (pack.messages.size() > 1)
      launches_.kernel(thread, pack.size() * 2, call, Account::other, concat_label_);
  }
  TaskId last = kNone;
  for (const Bytes message : pack.messages) last = sum_(message, messages_sent_++);
  sums_.push_back(last);
}

/// Splits the summed pack into gradients again.
void GradientExchange::take_apart(std::size_t p) {
  const GradientPack& pack = packs_[p];
  const HostThread& thread = threads_.main;
  const HostCalibration& costs = process_.host_costs();
  process_.stream_waits_for(sums_[p]);
  // Each gradient's update waits for its own sum, and is issued concurrently with the others.
  if (!pack.is_copied()) return convert(thread, pack);
  process_.host_for(thread, Time{}, Account::host, {{sums_[p], costs.sync_wake}});
  if (pack.messages.size() > 1)
    launches_.kernel(thread, pack.size() * 2, costs.copy_call, Account::other, split_label_);
  launches_.kernel(thread, pack.size() * 2, costs.copy_call, Account::other, split_label_);
  reshape(thread, pack.parameters.size());
  convert(thread, pack);
}

/// All packs are split in the order in which they were sent; then the exchange is ready for the next step.
void GradientExchange::after_backward() {
  for (std::size_t p = 0; p < packs_.size(); ++p) {
    take_apart(p);
    missing_[p] = packs_[p].parameters.size();
  }
  sums_.clear();
  messages_sent_ = 0;
}

std::vector<Bytes> GradientExchange::messages() const {
  std::vector<Bytes> all;
  for (const GradientPack& pack : packs_) all.insert(all.end(), pack.messages.begin(), pack.messages.end());
  return all;
}

Bytes GradientExchange::buffers() const {
  Bytes sum{};
  for (const GradientPack& pack : packs_) sum += pack.is_copied() ? pack.size() : Bytes{};
  return sum;
}

}  // namespace foretrain
