// The offload plan counts the network's operators as they were before the framework fused them. Positions in
// the lists that run are scaled to that count.
//
// All four positions (copied, waited, called, needed) only grow within a pass, so that each tensor is handled
// once and a pass costs time linear in its operators and tensors. The lists of the plan are sorted for that:
// tensors by when they are made, `back_` by when backward needs them.
#include "sim/strategy/step/activation_copies.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "sim/workload/device/memory.hpp"

namespace foretrain {

namespace {

/// Returns the position of `item` in `list`, scaled to a list of `whole` items. Returns `whole` when the item
/// is not in the list; the comparison of addresses decides that.
template <typename T>
std::uint32_t place_in(const std::vector<T>& list, const T& item, std::uint32_t whole) {
  const std::less<const T*> before;
  if (list.empty() || before(&item, list.data()) || !before(&item, list.data() + list.size())) return whole;
  const auto at = static_cast<std::uint64_t>(&item - list.data());
  return static_cast<std::uint32_t>(at * whole / list.size());
}

}  // namespace

ActivationCopies::ActivationCopies(Process& process)
    : process_(process),
      model_(*process.request().workload.model),
      plan_(model_.offloaded),
      is_on_(!plan_.tensors.empty()) {
  if (!is_on_) return;
  stream_ = overlaps() ? process.graph().add_queue("activation copies") : process.compute_stream();
  label_ = process.graph().label("activations to and from the host");
  back_.resize(plan_.tensors.size());
  std::iota(back_.begin(), back_.end(), std::uint32_t{0});
  std::ranges::stable_sort(back_, {}, [&](std::uint32_t i) { return plan_.tensors[i].needed; });
  copies_.assign(plan_.tensors.size(), kNone);
}

Bytes ActivationCopies::bytes_of(std::uint32_t tensor) const {
  const Workload& workload = process_.request().workload;
  const auto batch = static_cast<double>(workload.batch_per_gpu);
  return {static_cast<std::int64_t>(plan_.tensors[tensor].life.at(batch, activation_width(workload)))};
}

void ActivationCopies::copy_to_host(std::uint32_t tensor) {
  const std::array made{process_.last_kernel()};
  copies_[tensor] = process_.host_copy({.stream = stream_,
                                        .bytes = bytes_of(tensor),
                                        .to_gpu = false,
                                        .account = Account::other,
                                        .label = label_,
                                        .after = made});
}

void ActivationCopies::copy_back(std::uint32_t tensor) {
  const std::array before{process_.last_kernel(), copies_[tensor]};
  copies_[tensor] = process_.host_copy({.stream = stream_,
                                        .bytes = bytes_of(tensor),
                                        .to_gpu = true,
                                        .account = Account::other,
                                        .label = label_,
                                        .after = before});
}

void ActivationCopies::before(const Operator& op) {
  if (!is_on_) return;
  const std::uint32_t at = place_in(model_.forward, op, plan_.forward);
  if (at == plan_.forward) return;
  // A new pass begins: no tensor is copied yet.
  if (&op == model_.forward.data()) copied_ = waited_ = called_ = needed_ = 0;
  // The memory of these tensors is reused from this operator on, so their copies must have ended.
  for (; waited_ < copied_ && plan_.tensors[waited_].gone <= at; ++waited_) {
    if (overlaps()) process_.stream_waits_for(copies_[waited_]);
  }
}

void ActivationCopies::behind(const Operator& op) {
  if (!is_on_) return;
  const std::uint32_t at = place_in(model_.forward, op, plan_.forward);
  if (at == plan_.forward) return;
  for (; copied_ < plan_.tensors.size() && plan_.tensors[copied_].made <= at; ++copied_)
    copy_to_host(static_cast<std::uint32_t>(copied_));
}

void ActivationCopies::before(const BackwardStep& step) {
  if (!is_on_) return;
  const std::uint32_t at = place_in(model_.backward, step, plan_.backward);
  if (at == plan_.backward) return;
  // A tensor that is still on the GPU when backward begins is not copied back.
  const auto is_left = [&](std::uint32_t tensor) {
    return overlaps() && plan_.tensors[tensor].gone >= plan_.forward;
  };
  for (; called_ < back_.size() && plan_.tensors[back_[called_]].called <= at; ++called_) {
    if (!is_left(back_[called_])) copy_back(back_[called_]);
  }
  for (; needed_ < called_ && plan_.tensors[back_[needed_]].needed <= at; ++needed_) {
    if (overlaps() && !is_left(back_[needed_])) process_.stream_waits_for(copies_[back_[needed_]]);
  }
}

}  // namespace foretrain
