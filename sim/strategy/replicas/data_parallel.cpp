// Nothing overlaps: broadcast before forward, the sum after backward, both in the compute streams. All but
// the copies' kernels is GPU 0's.
#include "sim/strategy/replicas/data_parallel.hpp"

#include "sim/strategy/replicas/data_parallel_job.hpp"

namespace foretrain {

Plan plan_data_parallel(const PlanRequest& request) {
  Plan plan;
  DataParallelJob(request, plan, {wrap_network(*request.workload.model)}).run();
  return plan;
}

StrategyEntry data_parallel_strategy() {
  return {
      .name = "data_parallel",
      .summary =
          "PyTorch nn.DataParallel: one process, the network copied to every GPU of the node in each step",
      .plan = plan_data_parallel,
      .processes = Processes::one,
      .framework = FrameworkKind::pytorch,
      .alias = "dp"};
}

}  // namespace foretrain
