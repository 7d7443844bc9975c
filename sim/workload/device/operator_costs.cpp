// The factors of a run stand last in both formulas, so what comes before them is kept. An operator's number
// is its place in the network's own arrays: a table of addresses would cost a long network more than all else
// here.
#include "sim/workload/device/operator_costs.hpp"

#include <cassert>
#include <functional>

namespace foretrain {

namespace {

/// `op` is a member of one of the steps.
std::size_t place_of_step(const Operator& op, const std::vector<BackwardStep>& steps) {
  const auto bytes = reinterpret_cast<const char*>(&op) - reinterpret_cast<const char*>(&steps.front().op);
  return static_cast<std::size_t>(bytes) / sizeof(BackwardStep);
}

}  // namespace

OperatorCosts::OperatorCosts(const Workload& workload, const Gpu& gpu) : workload_(workload), gpu_(gpu) {
  for (const Operator& op : workload.model->forward) known_.push_back({&op});
  for (const BackwardStep& step : workload.model->backward) known_.push_back({&step.op});
}

std::size_t OperatorCosts::number_of(const Operator& op) const {
  const std::vector<Operator>& forward = workload_.model->forward;
  const std::vector<BackwardStep>& backward = workload_.model->backward;
  // std::less orders addresses of different arrays, which < need not.
  const std::less<const Operator*> is_before;
  const bool is_forward = !is_before(&op, forward.data()) && is_before(&op, forward.data() + forward.size());
  const auto number = is_forward ? static_cast<std::size_t>(&op - forward.data())
                                 : forward.size() + place_of_step(op, backward);
  assert(number < known_.size() && known_[number].op == &op);
  return number;
}

void OperatorCosts::use(const KernelCalibration& kernels, const HostCalibration& host) {
  KernelCalibration unscaled_kernels = kernels;
  HostCalibration unscaled_host = host;
  unscaled_kernels.time_scale = unscaled_host.time_scale = 1;
  if (unscaled_kernels == kernels_ && unscaled_host == host_) return;
  kernels_ = unscaled_kernels, host_ = unscaled_host;
  for (Known& known : known_) known.batch = -1;
}

const OperatorCosts::Cost& OperatorCosts::at(std::size_t number, std::int64_t batch) {
  Known& known = known_[number];
  if (known.batch == batch) return known.cost;
  const KernelContext context{gpu_, kernels_, workload_.precision, workload_.framework,
                              workload_.half_weights};
  known.cost = {kernel_seconds(*known.op, context, batch),
                host_reference(*known.op, host_, workload_.precision, workload_.framework)};
  known.batch = batch;
  return known.cost;
}

}  // namespace foretrain
