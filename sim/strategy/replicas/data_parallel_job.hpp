// What both forms of torch.nn.DataParallel share: one process with all GPUs, a batch for all of them, losses
// and optimizer on GPU 0.
#pragma once

#include <vector>

#include "sim/strategy/replicas/replicas.hpp"

namespace foretrain {

/// One job of steps. The wrapped modules are called one after the other in forward and backwards in backward.
class DataParallelJob {
 public:
  DataParallelJob(const PlanRequest& request, Plan& plan, std::vector<WrappedModule> modules);

  /// All steps of the request; fills the plan.
  void run();

 private:
  void add_micro_step(bool first);
  void forward();
  void backward(bool accumulating);
  void explain();
  StrategyMemory memory() const;

  const PlanRequest& request_;
  Plan& plan_;
  const ExpandedModel& model_;
  std::vector<WrappedModule> modules_;
  WrappedModule losses_;
  Workload whole_;  ///< with the batch, workers and cores of all GPUs
  Process process_;
  TrainingStep step_;
  Replicas replicas_;
};

}  // namespace foretrain
