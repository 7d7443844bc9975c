// A cache of operator costs. The factors of a run stand last in both formulas, so everything before them is
// kept. An operator's number is its place in the network's own arrays: a table of addresses would cost a long
// network more than all other work here.
#include "sim/workload/device/operator_costs.hpp"

#include <cassert>
#include <functional>

namespace foretrain {

namespace {

/// Returns the index of the step that holds `op` as a member.
std::size_t place_of_step(const Operator& op, const std::vector<BackwardStep>& steps) {
  const auto bytes = reinterpret_cast<const char*>(&op) - reinterpret_cast<const char*>(&steps.front().op);
  return static_cast<std::size_t>(bytes) / sizeof(BackwardStep);
}

}  // namespace

OperatorCosts::OperatorCosts(const Workload& workload, const Gpu& gpu) : workload_(workload), gpu_(gpu) {
  for (const Operator& op : workload.model->forward) operators_.push_back(&op);
  for (const BackwardStep& step : workload.model->backward) operators_.push_back(&step.op);
}

std::size_t OperatorCosts::number_of(const Operator& op) const {
  const std::vector<Operator>& forward = workload_.model->forward;
  const std::vector<BackwardStep>& backward = workload_.model->backward;
  // std::less orders addresses of different arrays, which < need not.
  const std::less<const Operator*> is_before;
  const bool is_forward = !is_before(&op, forward.data()) && is_before(&op, forward.data() + forward.size());
  const auto number = is_forward ? static_cast<std::size_t>(&op - forward.data())
                                 : forward.size() + place_of_step(op, backward);
  assert(number < operators_.size() && operators_[number] == &op);
  return number;
}

void OperatorCosts::use(const KernelCalibration& kernels, const HostCalibration& host) {
  KernelCalibration unscaled_kernels = kernels;
  HostCalibration unscaled_host = host;
  unscaled_kernels.time_scale = unscaled_host.time_scale = 1;
  if (unscaled_kernels == kernels_ && unscaled_host == host_) return;
  kernels_ = unscaled_kernels, host_ = unscaled_host;
  for (OfBatch& kept : kept_) kept.batch = -1;
}

/// Selects the costs of a batch. Where none are kept, those made first are replaced.
void OperatorCosts::choose(std::int64_t batch) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].batch == batch) return void(chosen_ = i);
  }
  chosen_ = next_++ % kept_.size();
  kept_[chosen_].batch = batch;
  kept_[chosen_].costs.assign(operators_.size(), {kUnknown, {}});
}

const OperatorCosts::Cost& OperatorCosts::at(std::size_t number, std::int64_t batch) {
  if (kept_[chosen_].batch != batch) choose(batch);
  Cost& cost = kept_[chosen_].costs[number];
  if (cost.kernel_s != kUnknown) return cost;
  const KernelContext context{gpu_, kernels_, workload_.precision, workload_.framework,
                              has_half_weights(workload_)};
  const Operator& op = *operators_[number];
  cost = {kernel_seconds(op, context, batch),
          host_reference(op, host_, workload_.precision, workload_.framework)};
  return cost;
}

}  // namespace foretrain
