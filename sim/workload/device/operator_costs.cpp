// The factors of a run stand last in both formulas, so what comes before them is kept.
#include "sim/workload/device/operator_costs.hpp"

namespace foretrain {

OperatorCosts::OperatorCosts(const Workload& workload, const Gpu& gpu) : workload_(workload), gpu_(gpu) {
  for (const Operator& op : workload.model->forward) known_.push_back({&op});
  for (const BackwardStep& step : workload.model->backward) known_.push_back({&step.op});
  for (std::size_t number = 0; number < known_.size(); ++number) numbers_.emplace(known_[number].op, number);
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
